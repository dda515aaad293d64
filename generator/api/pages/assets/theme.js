// Before a page is painted: the colours that the reader chose, and room for what the first page will show.
try {
  const { settings, series } = JSON.parse(localStorage.getItem("flatpanel")) ?? {};
  if (settings?.theme) document.documentElement.dataset.theme = settings.theme;
  if (series && Object.keys(series).length) document.documentElement.dataset.shelf = "";
} catch {
  // A private window, or a value of another program: the page looks as it does without a choice.
}
