"""Texts of the owner as HTML: what Markdown can do, and what it cannot."""

from generator.api.pages import theme

convert = theme.markdown_converter()


def test_text_as_html() -> None:
    assert convert
    for text, html in [
        ("# About *us*\n\nWe letter.", "<h1>About <em>us</em></h1>\n<p>We letter.</p>\n"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ('<b onclick="x">', "<p>&lt;b onclick=&quot;x&quot;&gt;</p>\n"),
        ("[a](https://b.example/?c&d)", '<p><a href="https://b.example/?c&amp;d">a</a></p>\n'),
        (
            "[a](/reader/) [b](mailto:a@b.example)",
            '<p><a href="/reader/">a</a> <a href="mailto:a@b.example">b</a></p>\n',
        ),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        ("[a](JaVaScRiPt:alert)", "<p>[a](JaVaScRiPt:alert)</p>\n"),
        ("[a](data:text/html,b)", "<p>[a](data:text/html,b)</p>\n"),
        ("[a](<java\tscript:alert(1)>)", "<p>[a](&lt;java\tscript:alert(1)&gt;)</p>\n"),
        ("[a](?b:c)", '<p><a href="?b:c">a</a></p>\n'),
        ("<javascript:alert(1)>", "<p>&lt;javascript:alert(1)&gt;</p>\n"),
    ]:
        assert convert(text).html == html


def test_columns_have_classes() -> None:
    """A style of an element would violate the Content-Security-Policy of pages."""
    assert convert
    html = convert("a|b\n--|-:\n1|2").html

    assert '<td class="right">2</td>' in html
    assert "style" not in html


def test_title_and_images() -> None:
    assert convert
    text = convert(
        "Before\n\n## Not\n\nThe `best` *site*\n===\n\n![](https://a.example:80/x.png) ![b](/c.png) ![](https://b.example;script-src/)"
    )

    assert text.title == "The best site"
    assert text.image_origins == ("https://a.example:80",)
    # Not lazy: its size is not known, and it would move the text when it is scrolled to.
    assert '<img src="/c.png" alt="b" />' in text.html
    assert convert("no heading").title == ""
