// Conditional requests, as RFC 9110, 13.2.2 orders them: If-Match or else If-Unmodified-Since, then If-None-Match or else
// If-Modified-Since. nginx has the same in generator/nginx/templates/conditions.conf.

import httpDates from './http_dates.js';

const BLANK = /[ \t\v\f]/;

// `header` gives a header of the request. `modified` is in seconds, or -1 for a body without a date, which ignores dates.
// Result: fresh (304), failed (412), passed (the body in its strong form), or empty (the body).
function verdict(header, etag, modified) {
    const match = header('If-Match');
    const unmodified = header('If-Unmodified-Since');
    if (match ? !lists(match, etag, false) : unmodified && order(modified, unmodified) > 0) {
        return 'failed';
    }
    const noneMatch = header('If-None-Match');
    const since = header('If-Modified-Since');
    if (noneMatch ? lists(noneMatch, etag, true) : since && order(modified, since) <= 0) {
        return 'fresh';
    }
    return match || unmodified ? 'passed' : '';
}

// Less than 0 if an instant is before a date, 0 if they are equal; NaN if either is none.
function order(modified, date) {
    const digits = httpDates.digits(date);
    if (modified < 0 || !digits) {
        return NaN;
    }
    const own = httpDates.ofInstant(modified);
    return own < digits ? -1 : own === digits ? 0 : 1;
}

// Does a list have an ETag? In the weak comparison W/ does not matter, in the strong one a weak ETag is never equal.
function lists(list, etag, isWeak) {
    const text = `"${etag}"`;
    for (let at = 0; at >= 0; at = end(list, at)) {
        let from = afterBlanks(list, at);
        if (isWeak && list.startsWith('W/', from)) {
            from += 2;
        }
        const next = list.startsWith(text, from) ? afterBlanks(list, from + text.length) : -1;
        if (next === list.length || list.charAt(next) === ',') {
            return true;
        }
    }
    return list === '*';
}

function afterBlanks(list, start) {
    let at = start;
    while (at < list.length && BLANK.test(list.charAt(at))) {
        at++;
    }
    return at;
}

// The start of the next element: after the next comma outside of quotes. -1 if there is none.
function end(list, start) {
    let isQuoted = false;
    for (let i = start; i < list.length; i++) {
        const letter = list.charAt(i);
        if (letter === '"') {
            isQuoted = !isQuoted;
        } else if (letter === ',' && !isQuoted) {
            return i + 1;
        }
    }
    return -1;
}

export default { verdict };
