// The resource key of a request with parameters, as `generator/api/payloads/resources.py` defines keys. The release
// decides whether a key exists.

import bytes from './bytes.js';
import listQuery from './list_query.js';
import parameters from './parameters.js';

const parameter = parameters.parameter;
const SERIES = '/of/index/series';
const NO_PAGES = '/query/pages/~/0/0';
const MAX_ECHO = 100;
// Each pattern is anchored at one end, so that it reads a long number once.
// Patterns end with (?![\s\S]): in njs, $ also matches before a final line break.
const NUMBER = /^([0-9]+)(?:\.([0-9]+))?(?:[eE]([0-9]{1,2}))?(?![\s\S])/;
const WITHOUT_LEADING_ZEROS = /[1-9][0-9]*$/;
const WITHOUT_TRAILING_ZEROS = /^[0-9]*[1-9]/;
const SLUG = /^[-a-zA-Z0-9_]+(?![\s\S])/;

// Key of a list of series, by its parameters.
function ofList(ask, index) {
    if (ask.bad) {
        return ask.bad;
    }
    if (listQuery.isFiltered(ask) || ask.limit !== index.page_size) {
        return SERIES;
    }
    return `/query/series/${ask.sort}/${ask.page}`;
}

// The format of dates: empty for the default, `bad` for one that does not exist.
function dateFormat(query) {
    const format = parameter(query, 'date_format') || 'iso-8601';
    if (format === 'iso-8601') {
        return '';
    }
    return format === 'rfc-5322' || format === 'timestamp' ? format : 'bad';
}

// Key of a list of chapters, of all series or of one.
function ofChapters(query, index) {
    const format = dateFormat(query);
    if (format === 'bad') {
        return '/bad/date_format';
    }
    const series = parameter(query, 'series');
    if (!series) {
        return format ? `/query/chapters/${format}` : '/api/v2/chapters';
    }
    const slug = index.free[`/${parameters.lowered(series)}`];
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

// Key of the pages of a chapter by series, volume and number. The letter case of the series is that of the request.
function ofPages(query) {
    const series = parameter(query, 'series');
    const sent = { volume: parameter(query, 'volume'), number: parameter(query, 'number') };
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
function badNumber(key, query) {
    const name = key === '/bad/volume' ? 'volume' : 'number';
    // A character counts for two at most.
    const start = bytes.characters(parameter(query, name).slice(0, 2 * MAX_ECHO)).slice(0, MAX_ECHO).join('');
    const value = start.split(/api_key/i, 1)[0];
    return JSON.stringify({ error: `Invalid ${name}: ${value}` });
}

export default { ofList, dateFormat, ofChapters, canonical, ofPages, badNumber };
