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

// A mark for each series: how many of the filters let it pass, one after the other. A filter only looks at those that
// the filters before it let pass. What is preloaded has no methods, only elements.
function marked(ask, index) {
    const marks = new Uint8Array(index.items.length);
    let level = 0;
    const pass = (positions) => {
        const count = positions ? positions.length : 0;
        for (let i = 0; i < count; i++) {
            if (marks[positions[i]] === level) {
                marks[positions[i]] = level + 1;
            }
        }
    };
    ['slug', 'status'].filter((field) => ask[field]).forEach((field) => {
        pass(index[field][`/${ask[field]}`]);
        level++;
    });
    if (ask.categories.any.length) {
        ask.categories.any.forEach((name) => pass(index.categories[`/${name}`]));
        level++;
    }
    ['title', 'author', 'artist'].filter((field) => ask[field]).forEach((field) => {
        look(marks, level, index[field], ask[field]);
        level++;
    });
    ask.categories.none.forEach((name) => {
        const positions = index.categories[`/${name}`];
        for (let i = 0; positions && i < positions.length; i++) {
            marks[positions[i]] = 255;
        }
    });
    return { marks, level };
}

// Every text holds several names, a line each, and none is found across a line break.
function look(marks, level, texts, text) {
    const count = text.includes('\n') ? 0 : texts.length;
    for (let i = 0; i < count; i++) {
        if (marks[i] === level && texts[i].includes(text)) {
            marks[i] = level + 1;
        }
    }
}

// The body of a filtered list, or nothing for a page that does not exist.
function listed(ask, index) {
    const order = index.orders[ask.sort];
    const count = order.length;
    const start = (ask.page - 1) * ask.limit;
    const end = start + ask.limit;
    const chosen = marked(ask, index);
    const marks = chosen.marks;
    const level = chosen.level;
    const items = [];
    let total = 0;
    for (let i = 0; i < count; i++) {
        if (marks[order[i]] === level) {
            if (total >= start && total < end) {
                items.push(index.items[order[i]]);
            }
            total++;
        }
    }
    if (ask.page < 1 || (start >= total && ask.page > 1)) {
        return null;
    }
    return `{"total":${total},"last":${end >= total},"results":[${items.join(',')}]}`;
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

// Whether a request wants to be counted as a view. By the time of the log only the line that was sent is what it was.
function tracked(r) {
    const sent = r.variables.request_uri.split('#')[0];
    const at = sent.indexOf('?');
    return at >= 0 && parameters(sent.slice(at + 1)).track === 'true' ? '1' : '';
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

// A 304 has no body. It must not announce the length of one, which clients in the field wait for, nor its type.
function bare(r) {
    delete r.headersOut['Content-Length'];
    delete r.headersOut['Content-Type'];
}

export default { list, dates, chapters, pages, digest, tracked, search, bare, listed, wanted, parameters };
