// The query of a list of series.

import bytes from './bytes.js';
import parameters from './parameters.js';

const decoded = parameters.decoded;
const lowered = parameters.lowered;
const replaced = parameters.replaced;
const MAX_LIMIT = 999;
// Limits, checked before anything is decoded.
const MAX_ITEMS = 64;
const MAX_TEXT = 200;
const TEXTS = ['title', 'author', 'artist'];

// Parameters of a list of series, with defaults filled in; or the key of the error as `bad`.
function wanted(text, index) {
    const sent = parameters.parameters(text);
    const items = sent && (sent.categories ? distinct(sent.categories) : []);
    if (!sent || !items || TEXTS.some((field) => sent[field] && bytes.characters(sent[field]).length > MAX_TEXT)) {
        return { bad: !sent ? '/bad/parameters' : !items ? '/bad/categories' : '/bad/text' };
    }
    const chosen = (name) => (sent[name] ? folded(decoded(sent[name]), index) : '');
    return {
        page: sent.page ? pageNumber(decoded(sent.page)) : 1,
        limit: sent.limit ? limit(decoded(sent.limit)) || index.page_size : index.page_size,
        sort: sent.sort ? order(decoded(sent.sort), index) : 'title',
        slug: sent.slug ? lowered(decoded(sent.slug)) : '',
        status: sent.status ? status(lowered(decoded(sent.status))) : '',
        categories: categories(items, index),
        title: chosen('title'),
        author: chosen('author'),
        artist: chosen('artist'),
    };
}

// The number of series on a page, or 0 for the default.
function limit(text) {
    const number = pageNumber(text) || (/^[0-9]+(?![\s\S])/.test(text) ? Number(text) : 0);
    return Math.min(number, MAX_LIMIT);
}

function order(text, index) {
    const sort = text.split(',', 1)[0].trim();
    return index.orders[`/${sort}`] ? sort : 'title';
}

// The number of a page, from 1; 0 for anything else. Other spellings of a number differ from the number's own.
function pageNumber(text) {
    const number = Number(text);
    return number >= 1 && number < 1e9 && number % 1 === 0 && String(number) === text ? number : 0;
}

function status(word) {
    if (word === 'any') {
        return '';
    }
    return word === 'cancelled' ? 'canceled' : word;
}

// The distinct items of a comma-separated list, or null if there are too many.
function distinct(list) {
    const parts = replaced(replaced(list, '%2C', ','), '%2c', ',').split(',');
    const seen = Object.create(null);
    const items = [];
    for (let i = 0; i < parts.length; i++) {
        const part = parts[i];
        if (part && !seen[part]) {
            if (items.length === MAX_ITEMS) {
                return null;
            }
            seen[part] = true;
            items.push(part);
        }
    }
    return items;
}

// Categories of which a series must have one (any), and categories that it must not have (none).
function categories(items, index) {
    const chosen = { any: [], none: [] };
    items.forEach((sent) => {
        const item = decoded(sent).trim();
        const excluded = item.charAt(0) === '-';
        const text = excluded ? item.slice(1).trim() : item;
        // Folding shortens no text, and takes 2 ms for the longest that can be sent.
        const isKnown = bytes.characters(text).length <= index.longest_category;
        const name = isKnown ? folded(text, index) : text;
        if (name) {
            chosen[excluded ? 'none' : 'any'].push(name);
        }
    });
    return chosen;
}

// Fold case as the build does: ASCII directly, other letters by the table in the index.
function folded(text, index) {
    if (/^[\x00-\x7f]*$/.test(text)) {
        return text.toLowerCase();
    }
    const letters = bytes.characters(text);
    for (let i = 0; i < letters.length; i++) {
        const letter = letters[i];
        const other = letter < '\x80' ? letter.toLowerCase() : index.fold[letter];
        letters[i] = other === undefined ? letter : other;
    }
    return letters.join('');
}

function isFiltered(ask) {
    return ask.slug || ask.status || ask.title || ask.author || ask.artist
        || ask.categories.any.length || ask.categories.none.length;
}

export default { MAX_ITEMS, MAX_TEXT, wanted, pageNumber, folded, isFiltered };
