// What nginx cannot decide by itself: what a query string asks for, which series match a filter, and the digest
// of a key. Everything else about an answer is the business of the maps.

import crypto from 'crypto';

const SERIES = '/of/index/series';
const NO_PAGES = '/query/pages/~/0/0';
const MAX_LIMIT = 999;
const NUMBER = /^(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?$/;
const SLUG = /^[-a-zA-Z0-9_]+$/;

// The parameters of a query string. The last of a repeated one counts, and an empty one is none.
function parameters(query) {
    const found = Object.create(null);
    (query || '').split('&').forEach((part) => {
        const at = part.indexOf('=');
        if (at >= 0) {
            found[decoded(part.slice(0, at))] = decoded(part.slice(at + 1));
        }
    });
    return found;
}

function decoded(text) {
    const spaced = text.replace(/\+/g, ' ');
    try {
        return decodeURIComponent(spaced);
    } catch (error) {
        // Not UTF-8, so it names nothing here; as it stands it finds nothing either.
        return spaced;
    }
}

// What a list of series is asked for, with every spelling of a default made the default.
function wanted(query, index) {
    const given = parameters(query);
    const limit = /^[0-9]+$/.test(given.limit || '') ? Math.min(Number(given.limit), MAX_LIMIT) : 0;
    const sort = (given.sort || '').split(',')[0].trim();
    return {
        page: given.page ? pageNumber(given.page) : 1,
        limit: limit || index.page_size,
        sort: Object.prototype.hasOwnProperty.call(index.orders, sort) ? sort : 'title',
        slug: (given.slug || '').toLowerCase(),
        status: status((given.status || '').toLowerCase()),
        categories: categories(given.categories || '', index),
        title: folded(given.title || '', index),
        author: folded(given.author || '', index),
        artist: folded(given.artist || '', index),
    };
}

// Pages count from 1; nothing else is the number of a page.
function pageNumber(text) {
    return /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0;
}

function status(word) {
    if (word === 'any') {
        return '';
    }
    return word === 'cancelled' ? 'canceled' : word;
}

// The categories that a series may have, one of which it must, and those that it must not.
function categories(text, index) {
    const chosen = { any: [], none: [] };
    text.split(',').forEach((part) => {
        const item = part.trim();
        const excluded = item.charAt(0) === '-';
        const name = folded(excluded ? item.slice(1).trim() : item, index);
        if (name) {
            chosen[excluded ? 'none' : 'any'].push(name);
        }
    });
    return chosen;
}

// The case of letters is folded as the build folded it; for other letters than ASCII's the index says how.
function folded(text, index) {
    return text.split('').map((letter) => {
        const other = index.fold[letter];
        return other !== undefined ? other : letter < '\x80' ? letter.toLowerCase() : letter;
    }).join('');
}

function isFiltered(ask) {
    return ask.slug || ask.status || ask.title || ask.author || ask.artist
        || ask.categories.any.length || ask.categories.none.length;
}

function matches(one, ask) {
    return (!ask.slug || one.slug === ask.slug)
        && (!ask.status || one.status === ask.status)
        && (!ask.title || contains(one.title, ask.title))
        && (!ask.author || contains(one.author, ask.author))
        && (!ask.artist || contains(one.artist, ask.artist))
        && (!ask.categories.any.length || shares(one.categories, ask.categories.any))
        && !shares(one.categories, ask.categories.none);
}

// A preloaded array has no methods, only elements.
function contains(names, text) {
    for (let i = 0; i < names.length; i++) {
        if (names[i].includes(text)) {
            return true;
        }
    }
    return false;
}

function shares(names, others) {
    for (let i = 0; i < names.length; i++) {
        if (others.includes(names[i])) {
            return true;
        }
    }
    return false;
}

// The body of a filtered list, or nothing for a page that does not exist.
function listed(ask, index) {
    const found = [];
    const order = index.orders[ask.sort];
    for (let i = 0; i < order.length; i++) {
        const one = index.series[order[i]];
        if (matches(one, ask)) {
            found.push(one.item);
        }
    }
    const start = (ask.page - 1) * ask.limit;
    if (ask.page < 1 || (start >= found.length && ask.page > 1)) {
        return null;
    }
    const last = start + ask.limit >= found.length;
    const items = found.slice(start, start + ask.limit).join(',');
    return `{"total":${found.length},"last":${last},"results":[${items}]}`;
}

// Variables of nginx: each answers with a key, of which the maps know whether it exists.

function list(r) {
    const ask = wanted(r.variables.args, fp_index);
    if (isFiltered(ask) || ask.limit !== fp_index.page_size) {
        return SERIES;
    }
    return `/query/series/${ask.sort}/${ask.page}`;
}

function dates(r) {
    return dateFormat(parameters(r.variables.args));
}

function dateFormat(given) {
    const format = given.date_format || 'iso-8601';
    if (format === 'iso-8601') {
        return '';
    }
    return format === 'rfc-5322' || format === 'timestamp' ? format : 'bad';
}

function chapters(r) {
    const given = parameters(r.variables.args);
    const format = dateFormat(given);
    if (format === 'bad') {
        return '/bad/date_format';
    }
    if (!given.series) {
        return format ? `/query/chapters/${format}` : '/api/v2/chapters';
    }
    const slug = fp_index.free[`/${given.series.toLowerCase()}`];
    if (!slug) {
        return NO_PAGES;
    }
    return format ? `/query/series/${slug}/chapters/${format}` : `/api/v2/series/${slug}/chapters`;
}

function pages(r) {
    const given = parameters(r.variables.args);
    if (!given.series || !given.volume || !given.number) {
        return '/bad/pages';
    }
    const known = SLUG.test(given.series) && NUMBER.test(given.volume) && NUMBER.test(given.number);
    return known ? `/query/pages/${given.series}/${given.volume}/${given.number}` : NO_PAGES;
}

function digest(r) {
    const key = r.headersIn['X-API-Key'] || parameters(r.variables.args).api_key;
    return key ? crypto.createHash('sha256').update(key).digest('hex') : '';
}

// The one answer that is written here; the maps judge its conditions as they do for a file.
function search(r) {
    const body = listed(wanted(r.variables.args, fp_index), fp_index);
    // The index is a body like any other: it has a date, which moves whenever one of its series does.
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

// A 304 that stands for something else than JSON.
function untyped(r) {
    delete r.headersOut['Content-Type'];
}

export default { list, dates, chapters, pages, digest, search, untyped, listed, wanted, parameters };
