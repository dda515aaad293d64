// Which record of a release a request asks for, and why there is none. nginx has the same in
// generator/nginx/templates/queries.conf, redirects.conf and http.conf.

import appCalls from './app_calls.js';
import keys from './keys.js';
import komgaList from './komga_list.js';
import listQuery from './list_query.js';
import listSearch from './list_search.js';
import parameters from './parameters.js';
import routes from './routes.js';

const SERIES = '/of/index/series';
const SERIES_OF_KOMGA = komgaList.KEY;
// A request that needs the index where it is not there: site.yaml restricts what the index has.
const LOCKED = { key: SERIES, record: null, isLocked: true };
const NO_PAGES = '/query/pages/~/0/0';
// Volume and number that stand for all numbers, in a series whose pages need an API key.
const ANY_NUMBER = '0/1000000000';
// Keys that are no paths: no path reaches them.
const RESERVED = /^\/(?:bad|index|of|query)(?:\/|(?![\s\S]))/;
const DATED = /^\/api\/v2(\/series\/[^/]+\/chapters)(?![\s\S])/;
const PAGE_OF_LIST = /^page=([1-9][0-9]{0,8})$/;
const OLD_PATH = /^(\/api\/(?:(?:v[12]\/)?series|v2\/cubari)\/)([-A-Za-z0-9_]+)(?:\/[\s\S]*)?(?![\s\S])/;
const OLD_IN_APP = /^(\/(?:opds\/v(?:1\.2|2)(?:\/page\/[0-9]+)?|komga(?:\/api\/v1)?)\/series\/)([-A-Za-z0-9_]+)(?:\/[\s\S]*)?(?![\s\S])/;
const BELOW_READER = /^([-A-Za-z0-9_]+)(?:\/[\s\S]*|\.(?:atom|rss|json))?(?![\s\S])/;
const IMAGE = /^([-A-Za-z0-9_]+\/[0-9]+\/[0-9.]+(?:\/version-[0-9]+)?)\/[1-9][0-9]{0,3}(?![\s\S])/;
const INTEGER = '(?:0|[1-9][0-9]*)';
const NUMBER = `${INTEGER}(?:\\.[0-9]*[1-9])?`;
const END = '(?![\\s\\S])';
// Paths of /api and /api/v1 with an id, a volume or a chapter that is no number in canonical form.
const BAD = new RegExp(`^/api/(?:(?:v1/)?(?:authors|artists)/(?!${INTEGER}${END})[^/]+|v1/groups/(?!${INTEGER}${END})[^/]+`
    + `|(?:v1/)?series/[^/]+/(?:(?!${INTEGER}${END})[^/]+|[^/]+/(?!${NUMBER}${END})[^/]+|(?!${INTEGER}/)[^/]+/[^/]+))${END}`);

// The path as nginx looks it up.
function pathKey(path) {
    if (path === '/') {
        return '/index';
    }
    return RESERVED.test(path) ? '/_flatpanel' : path;
}

// The record of another URL.
async function ofKey(key, release) {
    const record = await release.find(key);
    return { key, record };
}

// The key and the record (or null) of a request. `path` is that of pathKey, `query` a text.
async function chosen(path, query, account, release) {
    const key = query ? await keyWithQuery(path, query, account, release) : plainKey(path, account, release.rules);
    if (!key) {
        return LOCKED;
    }
    // Bytes that are not UTF-8 are part of no key.
    const record = key.includes('\ufffd') ? null : await release.find(key);
    if (record && record.kind === 'alias') {
        const aliased = await release.find(record.target);
        return { key: record.target, record: aliased };
    }
    if (record || !key.startsWith('/query/pages/')) {
        return { key, record };
    }
    // The release has the series in its own letters.
    const index = await release.index();
    if (!index) {
        return LOCKED;
    }
    const asked = key.split('/');
    const series = `/query/pages/${presentSlug(asked[3], index)}/`;
    const alias = await release.find(`${series}${asked[4]}/${asked[5]}`) || await release.find(series + ANY_NUMBER);
    const found = alias ? alias.target : NO_PAGES;
    const pages = await release.find(found);
    return { key: found, record: pages };
}

function plainKey(path, account, rules) {
    if (path === '/api/v2/pages') {
        return '/bad/pages';
    }
    const own = routes.own(path);
    if (own) {
        return `/of/${account}/${own}`;
    }
    // The page of a chapter, with the number of an image.
    const image = rules.pages && path.startsWith(rules.reader) ? IMAGE.exec(path.slice(rules.reader.length)) : null;
    if (image) {
        return rules.reader + image[1];
    }
    return rules.apps ? appCalls.uncalled(path, rules.apps) : path;
}

// Empty if the key needs the index, and the release has none.
async function keyWithQuery(path, query, account, release) {
    if (path === '/api/v2/series') {
        const page = PAGE_OF_LIST.exec(query);
        if (page) {
            return `/query/series/title/${page[1]}`;
        }
        const index = await release.index();
        return index ? keys.ofList(listQuery.wanted(query, index), index) : '';
    }
    if (path === '/api/v2/chapters') {
        const isOfSeries = parameters.parameter(query, 'series') !== '';
        const index = isOfSeries ? await release.index() : null;
        return isOfSeries && !index ? '' : keys.ofChapters(query, index);
    }
    if (path === '/api/v2/pages') {
        return keys.ofPages(query);
    }
    const dated = DATED.exec(path);
    if (!dated) {
        return plainKey(path, account, release.rules);
    }
    const format = keys.dateFormat(query);
    if (format === 'bad') {
        return '/bad/date_format';
    }
    return format ? `/query${dated[1]}/${format}` : path;
}

// The present slug of a series, in the letters that the release has.
function presentSlug(slug, index) {
    const place = index.slug[`/${slug.toLowerCase()}`];
    return place === undefined ? slug : JSON.parse(index.items[place]).slug;
}

// The body of the filtered list, or null for a page that does not exist.
async function searched(query, release) {
    const index = await release.index();
    return listSearch.listed(listQuery.wanted(query, index), index);
}

// The page of Komga's list of series, or null for a query that is too long.
async function searchedSeries(query, release) {
    const index = await release.index();
    const ask = komgaList.wanted(query, index);
    if (ask === null) {
        return null;
    }
    const page = komgaList.page(ask, index);
    const bodies = await Promise.all(page.keys.map((key) => release.find(key).then((record) => release.text(record))));
    return komgaList.body(ask, page.total, bodies);
}

// What a path without a record is: the present path of a series in place of its old one and the length of that, with
// the status 308 or in apps 302; or the status 400 or 404.
function missing(path, key, rules) {
    const moved = redirect(path, rules);
    return moved || { status: key.startsWith('/bad/') || BAD.test(key) ? 400 : 404 };
}

function redirect(path, rules) {
    const isInApp = routes.family(path, rules) === 'app';
    const below = (isInApp ? OLD_IN_APP : OLD_PATH).exec(path);
    const base = below ? below[1] : rules.reader;
    const found = below || !rules.pages || !path.startsWith(base) ? below : BELOW_READER.exec(path.slice(base.length));
    if (!found) {
        return null;
    }
    const old = below ? below[2] : found[1];
    const isOld = Object.prototype.hasOwnProperty.call(rules.redirects, old);
    const status = isInApp ? 302 : 308;
    return isOld ? { status, present: base + rules.redirects[old], length: base.length + old.length } : null;
}

export default { SERIES, SERIES_OF_KOMGA, pathKey, ofKey, chosen, searched, searchedSeries, missing };
