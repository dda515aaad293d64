// The list of series in Komga's API: what a request searches for, and the page that answers it.
// `generator/api/komga/lists.py` has the same page with all series.

import bytes from './bytes.js';
import listQuery from './list_query.js';
import listSearch from './list_search.js';
import parameters from './parameters.js';

const KEY = '/komga/api/v1/series';
const SIZE = 20;
const LAST_PAGE = 999999999;
// The only library (`generator/api/komga/lists.py`).
const LIBRARY = '1';
// Parameters with names that commas separate.
const NAMES = ['status', 'genre', 'tag', 'publisher', 'library_id', 'read_status'];
// Which of them are words of Komga.
const IS_FIXED = [true, false, false, false, true, true];
const STATUSES = { '/ongoing': '/ongoing', '/ended': '/completed', '/abandoned': '/canceled', '/hiatus': '/hiatus' };
const ORDERS = {
    '/relevance': 'title',
    '/name': 'title',
    '/metadata.titleSort': 'title',
    '/createdDate': 'created',
    '/lastModifiedDate': 'latest_upload',
    '/random': 'random',
};

// What a query asks for; null if it is too long, which is judged before anything is decoded.
function wanted(text, index) {
    const sent = parameters.allParameters(text);
    const listed = sent ? NAMES.map((name) => items((sent[name] || []).join(','))) : [null];
    const search = sent ? last(sent.search) : '';
    if (listed.includes(null) || bytes.characters(search).length > listQuery.MAX_TEXT) {
        return null;
    }
    const names = listed.map((some, i) => some.map((name) => (IS_FIXED[i] ? lowered(name) : folded(name, index))));
    const authors = (sent.author || []).filter((author) => author);
    const page = parameters.decoded(last(sent.page));
    return {
        // A longer number is past the end, too.
        page: /^[1-9][0-9]{9,}(?![\s\S])/.test(page) ? LAST_PAGE : listQuery.pageNumber(page),
        sort: order(parameters.decoded(last(sent.sort))),
        set: chosen(names, authors.map((author) => folded(author, index)), index),
        slug: '',
        title: search ? listQuery.folded(parameters.decoded(search), index) : '',
        author: '',
        artist: '',
    };
}

function last(values) {
    return values ? values[values.length - 1] : '';
}

// The items of a list, or null if there are too many.
function items(list) {
    const commas = parameters.replaced(parameters.replaced(list, '%2C', ','), '%2c', ',');
    const parts = commas.split(',', listQuery.MAX_ITEMS + 1);
    return parts.length > listQuery.MAX_ITEMS ? null : parts.filter((part) => part);
}

function lowered(sent) {
    return parameters.lowered(parameters.decoded(sent));
}

// A name as the index has it. A longer one is none of its names: folding shortens no text, and takes long.
function folded(sent, index) {
    const text = parameters.decoded(sent);
    return bytes.characters(text).length <= index.komga.longest_name ? listQuery.folded(text, index) : text;
}

// The order of a list: a field and `asc` or `desc`.
function order(text) {
    const parts = text.split(',', 2);
    const name = ORDERS[`/${parts[0]}`] || 'title';
    return parts[1] === 'desc' ? `-${name}` : name;
}

// The public series, by title, that all filters choose. A filter chooses series that have one of its names.
function chosen(names, authors, index) {
    const own = index.komga;
    const lists = index.lists;
    const sets = index.orders['/title'].sets;
    const statuses = names[0].map((name) => STATUSES[`/${name}`]).map((name) => index.status[name]);
    const filters = [
        [names[0], statuses.filter((id) => id !== undefined).map((id) => sets[id])],
        [names[1], known(names[1], index.categories, own.commas).map((id) => sets[id])],
        [names[2], known(names[2], own.tags, own.commas).map((id) => lists[id])],
        [names[3], known(names[3], own.publishers, own.commas).map((id) => lists[id])],
        [names[4], names[4].includes(LIBRARY) ? [lists[own.public]] : []],
        // No server knows what has been read.
        [names[5], names[5].includes('unread') ? [lists[own.public]] : []],
        [authors, known(authors, own.authors, 0).map((id) => lists[id])],
    ];
    return filters.filter((filter) => filter[0].length).reduce((left, filter) => {
        const other = union(filter[1], index);
        return left.map((word, i) => word & other[i]);
    }, listSearch.asBits(lists[own.public], index));
}

// The sets of a table that have one of these names. A name may contain as many commas, which separate names.
function known(names, table, commas) {
    const ids = [];
    for (let i = 0; i < names.length; i++) {
        let count = Math.min(commas + 1, names.length - i);
        while (count > 1 && table[joined(names, i, count)] === undefined) {
            count -= 1;
        }
        const id = table[joined(names, i, count)];
        if (id !== undefined && !ids.includes(id)) {
            ids.push(id);
        }
        i += count - 1;
    }
    return ids;
}

function joined(names, start, count) {
    return `/${names.slice(start, start + count).join(',')}`;
}

function union(texts, index) {
    return texts.reduce((left, text) => {
        const right = listSearch.asBits(text, index);
        return left.map((word, i) => word | right[i]);
    }, new Int32Array(index.words));
}

// The total of a list, and the keys of the bodies on its page.
function page(ask, index) {
    const start = ask.page * SIZE;
    const found = listSearch.page(ask, index, start, start + SIZE);
    const keys = [];
    // The positions may be an array that has numbers only.
    for (let i = 0; i < found.positions.length; i++) {
        keys.push(`${KEY}/${JSON.parse(index.items[found.positions[i]]).slug}`);
    }
    return { total: found.total, keys };
}

// The page with these bodies.
function body(ask, total, series) {
    const pages = Math.ceil(total / SIZE);
    return `{"content":[${series.join(',')}],"empty":${!series.length},"first":${!ask.page},`
        + `"last":${ask.page + 1 >= pages},"number":${ask.page},"numberOfElements":${series.length},"size":${SIZE},`
        + `"totalElements":${total},"totalPages":${pages}}`;
}

export default { KEY, wanted, page, body };
