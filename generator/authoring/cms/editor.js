// What Sveltia CMS lacks for this catalog: the field of pages, and its icons from this folder.

// The pages of a chapter: a file name or a URL in each line, or a run in one line.
const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);

const pages = window.createClass({
    // The value is a list, a run, or missing.
    getInitialState() {
        return { text: [this.props.value ?? []].flat().join('\n') };
    },

    change(event) {
        const text = event.target.value;
        this.setState({ text });
        const [first = '', ...others] = lines(text);
        const isRun = others.length === 0 && this.matches('run', first);
        // The files of a list stay until another list replaces them.
        this.props.onChange([]);
        this.props.onChange(isRun ? first : lines(text));
    },

    matches(name, text) {
        return new RegExp(this.props.field.get(name)).test(text);
    },

    isValid() {
        const [first = '', ...others] = lines(this.state.text);
        if (others.length === 0 && this.matches('run', first)) {
            return true;
        }
        const wrong = [first, ...others].find((line) => line && !this.matches('page', line));
        return wrong === undefined || { error: { message: `${wrong}: ${this.props.field.get('message')}` } };
    },

    render() {
        const { forID, classNameWrapper } = this.props;
        const { text } = this.state;
        const rows = Math.min(Math.max(text.split('\n').length + 1, 3), 20);
        return window.h('textarea', { id: forID, className: classNameWrapper, rows, value: text, onChange: this.change });
    },
});

window.CMS.registerFieldType('pages', pages);

// Sveltia names a file at another host, which the policy of the page refuses.
const folder = 'node_modules/@fontsource-variable/material-symbols-outlined/files';
const file = `${folder}/material-symbols-outlined-latin-wght-normal.woff2`;
document.fonts.add(new FontFace('Material Symbols Outlined', `url(${file})`, { weight: '100 700', display: 'block' }));
