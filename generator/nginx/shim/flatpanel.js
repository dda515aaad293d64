// The parts of a response that nginx maps cannot compute: keys of query strings, filtered lists of series, and digests
// of API keys.

import crypto from 'crypto';
import querystring from 'querystring';

const SERIES = '/of/index/series';
const NO_PAGES = '/query/pages/~/0/0';
const MAX_LIMIT = 999;
// Limits of the parameters of a list, checked before anything is decoded.
const MAX_PARAMETERS = 64;
const MAX_CATEGORIES = 64;
const MAX_TEXT = 200;
const MAX_ECHO = 100;
const TEXTS = ['title', 'author', 'artist'];
// Each pattern is anchored at one end, so that it reads a long number once.
// Patterns end with (?![\s\S]): in njs, $ also matches before a final line break.
const NUMBER = /^([0-9]+)(?:\.([0-9]+))?(?:[eE]([0-9]{1,2}))?(?![\s\S])/;
const WITHOUT_LEADING_ZEROS = /[1-9][0-9]*$/;
const WITHOUT_TRAILING_ZEROS = /^[0-9]*[1-9]/;
const SLUG = /^[-a-zA-Z0-9_]+(?![\s\S])/;

// Replace a text. A pattern would take several microseconds per match, and a long query has thousands of matches.
function replaced(text, old, other) {
    return text.split(old).join(other);
}

// Decode + and percent escapes. Invalid escapes stay, invalid UTF-8 becomes U+FFFD. Nothing here may throw: njs then
// searches all preloaded objects for the name of the function, which takes 8 ms with 2,000 series.
function decoded(text) {
    return querystring.unescape(replaced(text, '+', ' '));
}

// The query of a request. Invalid UTF-8 becomes U+FFFD, since patterns do not match beyond it.
function query(r) {
    const bytes = r.rawVariables.args;
    return bytes ? bytes.toString() : '';
}

// The query in the request line. $args is lost in the log, after a 304 and in an error page.
function queryOfLine(r) {
    const sent = r.rawVariables.request_uri.toString().split('#', 1)[0];
    const at = sent.indexOf('?');
    return at < 0 ? '' : sent.slice(at + 1);
}

// The last value of a parameter, or an empty text. The pattern reads the query once and accepts escaped letters in the
// name.
function parameter(text, name) {
    const letters = name.split('').map((letter) => {
        const digits = letter.charCodeAt(0).toString(16);
        return `(?:${letter}|%${digits[0]}[${digits[1]}${digits[1].toUpperCase()}])`;
    });
    const found = new RegExp(`^(?:.*&)?${letters.join('')}=([^&]*)`).exec(text);
    return found ? decoded(found[1]) : '';
}

// All parameters of a list with their undecoded values, or null if there are too many. The last value of a parameter
// counts.
function parameters(text) {
    const parts = text.split('&', MAX_PARAMETERS + 1);
    const found = Object.create(null);
    parts.forEach((part) => {
        const at = part.indexOf('=');
        if (at >= 0) {
            found[decoded(part.slice(0, at))] = part.slice(at + 1);
        }
    });
    return parts.length > MAX_PARAMETERS ? null : found;
}

// Parameters of a list of series, with defaults filled in; or the key of the error as `bad`.
function wanted(text, index) {
    const sent = parameters(text);
    const items = sent && distinct(sent.categories || '');
    if (!sent || !items || TEXTS.some((field) => (sent[field] || '').length > MAX_TEXT)) {
        return { bad: !sent ? '/bad/parameters' : !items ? '/bad/categories' : '/bad/text' };
    }
    const given = (name) => decoded(sent[name] || '');
    const limit = /^[0-9]+(?![\s\S])/.test(given('limit')) ? Math.min(Number(given('limit')), MAX_LIMIT) : 0;
    const sort = given('sort').split(',', 1)[0].trim();
    return {
        page: sent.page ? pageNumber(given('page')) : 1,
        limit: limit || index.page_size,
        sort: Object.prototype.hasOwnProperty.call(index.orders, sort) ? sort : 'title',
        slug: given('slug').toLowerCase(),
        status: status(given('status').toLowerCase()),
        categories: categories(items, index),
        title: folded(given('title'), index),
        author: folded(given('author'), index),
        artist: folded(given('artist'), index),
    };
}

// The number of a page, from 1; 0 for anything else.
function pageNumber(text) {
    return /^[1-9][0-9]{0,8}(?![\s\S])/.test(text) ? Number(text) : 0;
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
            if (items.length === MAX_CATEGORIES) {
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
        const name = folded(excluded ? item.slice(1).trim() : item, index);
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
    const letters = text.split('');
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

// The union of the sets with these names. A set holds one bit per series, 32 in a number: joining 64 sets takes as long
// as examining two series. Preloaded objects have elements but no methods.
function union(names, table, index) {
    const sets = names.map((name) => index.sets[table[`/${name}`]]).filter((set) => set);
    const words = new Int32Array(index.words);
    for (let i = 0; sets.length && i < words.length; i++) {
        let word = 0;
        for (let j = 0; j < sets.length; j++) {
            word |= sets[j][i];
        }
        words[i] = word;
    }
    return words;
}

// The series that pass all filters but those on texts, as a set.
function passing(ask, index) {
    const excluded = union(ask.categories.none, index.categories, index);
    const sets = [];
    if (ask.status) {
        sets.push(union([ask.status], index.status, index));
    }
    if (ask.categories.any.length) {
        sets.push(union(ask.categories.any, index.categories, index));
    }
    if (ask.slug) {
        const only = new Int32Array(index.words);
        const at = index.slug[`/${ask.slug}`];
        if (at !== undefined) {
            only[at >> 5] = 1 << (at & 31);
        }
        sets.push(only);
    }
    return excluded.map((word, i) => sets.reduce((left, set) => left & set[i], ~word));
}

// The body of a filtered list, or null for a page that does not exist.
function listed(ask, index) {
    const order = index.orders[ask.sort];
    const count = order.length;
    const start = (ask.page - 1) * ask.limit;
    const end = start + ask.limit;
    const left = passing(ask, index);
    // An indexed text has one name per line. No name contains a line break.
    const texts = TEXTS.filter((field) => ask[field]).map((field) => ({ of: index[field], part: ask[field] }));
    const lines = texts.some((text) => text.part.includes('\n'));
    const items = [];
    let total = 0;
    for (let i = 0; !lines && i < count; i++) {
        const at = order[i];
        if (left[at >> 5] >> (at & 31) & 1 && says(texts, at)) {
            if (total >= start && total < end) {
                items.push(index.items[at]);
            }
            total++;
        }
    }
    if (ask.page < 1 || (start >= total && ask.page > 1)) {
        return null;
    }
    return `{"total":${total},"last":${end >= total},"results":[${items.join(',')}]}`;
}

function says(texts, at) {
    for (let i = 0; i < texts.length; i++) {
        if (!texts[i].of[at].includes(texts[i].part)) {
            return false;
        }
    }
    return true;
}

// Variables of nginx. Each returns a key; the maps decide whether it exists.

// Parameters of the last list, since two functions need them for one request.
let kept = { text: null, ask: null };

function asked(r) {
    const text = query(r);
    if (kept.text !== text) {
        kept = { text, ask: wanted(text, fp_index) };
    }
    return kept.ask;
}

function list(r) {
    const ask = asked(r);
    if (ask.bad) {
        return ask.bad;
    }
    if (isFiltered(ask) || ask.limit !== fp_index.page_size) {
        return SERIES;
    }
    return `/query/series/${ask.sort}/${ask.page}`;
}

function dates(r) {
    const format = parameter(query(r), 'date_format') || 'iso-8601';
    if (format === 'iso-8601') {
        return '';
    }
    return format === 'rfc-5322' || format === 'timestamp' ? format : 'bad';
}

function chapters(r) {
    const format = dates(r);
    if (format === 'bad') {
        return '/bad/date_format';
    }
    const series = parameter(query(r), 'series');
    if (!series) {
        return format ? `/query/chapters/${format}` : '/api/v2/chapters';
    }
    const slug = fp_index.free[`/${series.toLowerCase()}`];
    if (!slug) {
        return NO_PAGES;
    }
    return format ? `/query/series/${slug}/chapters/${format}` : `/api/v2/series/${slug}/chapters`;
}

// A number in canonical form, or an empty text: 1, 01, 1.0 and 1e0 are the same number.
function canonical(text) {
    const found = NUMBER.exec(text);
    if (!found) {
        return '';
    }
    const exponent = Number(found[3] || 0);
    const fraction = found[2] || '';
    const whole = WITHOUT_LEADING_ZEROS.exec(found[1] + fraction.slice(0, exponent).padEnd(exponent, '0'));
    const part = WITHOUT_TRAILING_ZEROS.exec(fraction.slice(exponent));
    return (whole ? whole[0] : '0') + (part ? `.${part[0]}` : '');
}

function pages(r) {
    const text = query(r);
    const series = parameter(text, 'series');
    const sent = { volume: parameter(text, 'volume'), number: parameter(text, 'number') };
    if (!series || !sent.volume || !sent.number) {
        return '/bad/pages';
    }
    const volume = canonical(sent.volume);
    const number = canonical(sent.number);
    if (!volume || volume.includes('.')) {
        return '/bad/volume';
    }
    if (!number) {
        return '/bad/number';
    }
    return SLUG.test(series) ? `/query/pages/${series}/${volume}/${number}` : NO_PAGES;
}

// Body of the 400 of a volume or a number: the beginning of the value, cut before an API key that it may contain.
function invalid(r) {
    const name = r.variables.fp_key === '/bad/volume' ? 'volume' : 'number';
    const value = parameter(queryOfLine(r), name).slice(0, MAX_ECHO).split(/api_key/i, 1)[0];
    return JSON.stringify({ error: `Invalid ${name}: ${value}` });
}

function digest(r) {
    const key = r.headersIn['X-API-Key'] || parameter(query(r), 'api_key');
    return key ? crypto.createHash('sha256').update(key).digest('hex') : '';
}

// Does the request ask to be counted as a view? Read from the request line, since the log needs it, too.
function tracked(r) {
    return parameter(queryOfLine(r), 'track') === 'true' ? '1' : '';
}

// Respond with a filtered list. The maps evaluate its conditions as they do for a file.
function search(r) {
    const body = listed(asked(r), fp_index);
    // $fp_found is that of the index, whose Last-Modified changes with any of its series.
    if (r.variables.fp_found !== 'body' || body === null) {
        r.return(404);
        return;
    }
    r.variables.fp_tag = crypto.createHash('md5').update(body).digest('hex');
    r.variables.fp_packed = '-';
    const verdict = r.variables.fp_verdict;
    if (verdict === 'fresh') {
        r.return(418);
    } else if (verdict === 'failed') {
        r.return(412);
    } else if (verdict === 'passed') {
        r.internalRedirect('/_flatpanel/again');
    } else {
        r.return(200, body);
    }
}

// Remove headers of the body from a 304: some clients wait for a body of the announced length.
function bare(r) {
    delete r.headersOut['Content-Length'];
    delete r.headersOut['Content-Type'];
}

export default {
    list, dates, chapters, pages, invalid, digest, tracked, search, bare, listed, wanted, parameters, parameter, canonical,
};
