// The core as functions of nginx variables: what nginx maps cannot compute.

import crypto from 'crypto';
import keys from '../core/keys.js';
import listQuery from '../core/list_query.js';
import listSearch from '../core/list_search.js';
import parameters from '../core/parameters.js';
import redirects from '../core/redirects.js';

const parameter = parameters.parameter;

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

// Variables of nginx. Each returns a key; the maps decide whether it exists.

// Parameters of the last list, since two functions need them for one request.
let kept = { text: null, ask: null };

function asked(r) {
    const text = query(r);
    if (kept.text !== text) {
        kept = { text, ask: listQuery.wanted(text, fp_index) };
    }
    return kept.ask;
}

function list(r) {
    return keys.ofList(asked(r), fp_index);
}

function dates(r) {
    return keys.dateFormat(query(r));
}

function chapters(r) {
    return keys.ofChapters(query(r), fp_index);
}

function pages(r) {
    return keys.ofPages(query(r));
}

// Body of the 400 of a volume or a number.
function invalid(r) {
    return keys.badNumber(r.variables.fp_key, queryOfLine(r));
}

function digest(r) {
    const key = r.headersIn['X-API-Key'] || parameter(query(r), 'api_key');
    return key ? crypto.createHash('sha256').update(key).digest('hex') : '';
}

// Was a key sent? Read from the request line, since $args is lost in an error page.
function sentKey(r) {
    return r.headersIn['X-API-Key'] || parameter(queryOfLine(r), 'api_key') ? '1' : '';
}

// Path of a redirect from an old slug: the present slug, the rest of the path, and the query without a key.
function redirect(r) {
    const uri = r.rawVariables.request_uri;
    const end = uri.indexOf('#');
    const line = end < 0 ? uri : uri.subarray(0, end);
    const at = line.indexOf('?') + 1;
    const below = r.rawVariables.fp_below || Buffer.from('');
    const present = r.variables.fp_present_path || r.variables.fp_app_folder + r.variables.fp_app_present_slug;
    return present + redirects.below(below, r.variables.fp_family === 'page')
        + (at ? redirects.query(line.subarray(at)) : '');
}

// Does the request ask to be counted as a view? Read from the request line, since the log needs it, too.
function tracked(r) {
    return parameter(queryOfLine(r), 'track') === 'true' ? '1' : '';
}

// Respond with a filtered list.
function search(r) {
    const body = listSearch.listed(asked(r), fp_index);
    // $fp_found is that of the index, whose Last-Modified changes with any of its series.
    if (r.variables.fp_found !== 'body' || body === null) {
        r.return(404);
        return;
    }
    assembled(r, body);
}

// Respond with a body that the shim has assembled. The maps evaluate its conditions as they do for a file.
function assembled(r, body) {
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

export default { list, dates, chapters, pages, invalid, digest, sentKey, redirect, tracked, search, query, assembled };
