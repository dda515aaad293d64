// Responses that are no resources: errors and redirects. nginx has the same in generator/nginx/templates/failures.conf.

import bytes from './bytes.js';
import headers from './headers.js';
import keys from './keys.js';

const JSON_TYPE = 'application/json';
const HTML = 'text/html; charset=utf-8';
const PAGE_OF_LIST = /^\/query\/series\/-?[a-z_]+\/[^/]+$/;
const NO_PAGE = '/404';

// An error. `state` says what is known of the request:
//   family, method    form of the error, and the method
//   isPrivate         whether no shared cache may store the answer
//   key, query        resource key, and query as text
//   refusal           why the API key is refused
async function failure(status, state, release) {
    const rules = release.rules;
    const isPage = state.family === 'page';
    const fields = plain(status, state, rules);
    if (status === 405) {
        fields.push(['Allow', headers.METHODS]);
    }
    if (status === 401 && !isPage) {
        fields.push(['WWW-Authenticate', 'X-API-Key']);
    }
    if (!isPage) {
        return finished(status, JSON_TYPE, bytes.encoded(text(status, state, rules)), fields);
    }
    const page = status === 404 ? await release.find(NO_PAGE) : null;
    const all = fields.concat(headers.ofPage(rules));
    if (page && page.kind === 'body') {
        all.push(['Content-Type', HTML], ['Content-Length', String(page.size)]);
        const body = state.method === 'HEAD' ? null : await release.body(page, 'plain');
        return { status, headers: all, body };
    }
    const pages = rules.errors.pages;
    return finished(status, HTML, bytes.encoded(pages[status] || pages[500]), all);
}

// A redirect, 302 or 308, to a path of the site or to a URL.
function redirect(status, location, state, rules) {
    const url = location.startsWith('/') ? rules.base_url + location : location;
    const fields = plain(status, state, rules);
    fields.push(['Location', url]);
    return finished(status, JSON_TYPE, bytes.encoded(`{"url":"${url}"}`), fields);
}

function finished(status, type, body, fields) {
    fields.push(['Content-Type', type], ['Content-Length', String(body.length)]);
    return { status, headers: fields, body };
}

// Responses about a path are cached for a short time, since the path may be published soon. Other errors are not
// cached, so that they end with their cause.
function plain(status, state, rules) {
    let cache = 'no-store';
    if (state.isKeyed) {
        cache = 'private, no-store';
    } else if (status === 302) {
        cache = `public, max-age=${rules.apps_age}`;
    } else if (status === 308 || status === 404 || status === 451) {
        cache = `${state.isPrivate ? 'private' : 'public'}, max-age=${rules.error_age}`;
    }
    return headers.common(state.family, cache, state.isPrivate ? 'X-API-Key' : '');
}

function text(status, state, rules) {
    const messages = rules.errors.messages;
    const known = messages[status] ? status : 500;
    if (state.family !== 'v2') {
        return JSON.stringify({ error: messages[known], status: known });
    }
    const body = specific(status, state, rules) || { detail: `${messages[known]}.` };
    return typeof body === 'string' ? body : JSON.stringify(body);
}

// Errors of v2 that are more specific than the status.
function specific(status, state, rules) {
    const details = rules.errors.details;
    const key = state.key || '';
    if (status === 400 && (key === '/bad/volume' || key === '/bad/number')) {
        return keys.badNumber(key, state.query);
    }
    if (status === 400) {
        return rules.errors.bad_parameters[key];
    }
    if (status === 401) {
        return state.refusal === 'absent' ? details.absent : details.invalid;
    }
    if (status === 404 && (key === '/of/index/series' || PAGE_OF_LIST.test(key))) {
        return details.page;
    }
    if (status === 405) {
        return { detail: `Method "${state.method}" not allowed.` };
    }
    return status === 451 ? details.licensed : undefined;
}

export default { failure, redirect };
