// What Sveltia CMS lacks for this catalog: the field of pages, and its icons from this folder.

// The pages of a chapter: a file name or a URL in each line, or a run in one line.
const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);
const written = (value) => [value ?? []].flat().join('\n');

const pages = window.createClass({
    // The value is a list, a run, or missing.
    getInitialState() {
        this.sent = [];
        return { text: written(this.props.value) };
    },

    change(event) {
        const text = event.target.value;
        this.setState({ text });
        const [first = '', ...others] = lines(text);
        const isRun = others.length === 0 && this.matches('run', first);
        const value = isRun ? first : lines(text);
        // The files of a list stay until another list replaces them.
        this.props.onChange([]);
        this.props.onChange(value);
        this.sent.push(written(value));
    },

    // A value that did not come from here: the editor reverted the changes. Those from here may come late.
    componentDidUpdate(previous) {
        const text = written(this.props.value);
        if (text === written(previous.value)) {
            return;
        }
        if (this.sent.includes(text)) {
            this.sent.splice(0, this.sent.lastIndexOf(text) + 1);
        } else {
            this.setState({ text });
        }
    },

    matches(name, text) {
        return new RegExp(this.props.field.get(name)).test(text);
    },

    isValid(value) {
        const isRun = typeof value === 'string' && this.matches('run', value);
        const wrong = isRun ? undefined : [value ?? []].flat().find((line) => !this.matches('page', line));
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
