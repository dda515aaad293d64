// Answers a request from a release as nginx does with its configuration: the templates in generator/nginx/templates are
// the specification.
//
// request
//   method   as it was sent
//   target   path and query as they were received, undecoded
//   header   function of a name: the value, empty without the header
//   digest   SHA-256 of the API key that was sent (apiKey), in hexadecimal digits; empty without one
//   hosts    the header Host, and the authority of an absolute target, where they exist
//   fields   optional: all headers as pairs, to check their length
// release
//   rules    what holds for the site as a whole (generator/hosts/packs/worker_files.py)
//   find     function of a resource key: a promise of its record or null
//   body     function of a record and a form, plain or gzip: a promise of bytes or a stream
//   text     function of a record: a promise of its body as text
//   index    function: a promise of the search index; null where it is restricted, and not there
//   md5      function of a text: its MD5 in hexadecimal digits
// record
//   kind     body, 302, 308, 451 or alias
//   restricted  whether it needs an API key
//   target   path or URL of a redirect, or key whose record an alias stands for
//   etag, modified, maxAge, type   of a body; modified in seconds, -1 without Last-Modified
//   gzip     whether a gzip form exists; `stored` is its length
//   size     length of the plain form
// Result: a promise of status, headers as pairs, and body: null, bytes or a stream. The adapter leaves out the body of
// an answer to HEAD.

import appCalls from './app_calls.js';
import bytes from './bytes.js';
import codings from './codings.js';
import conditions from './conditions.js';
import errors from './errors.js';
import headers from './headers.js';
import httpDates from './http_dates.js';
import lookup from './lookup.js';
import parameters from './parameters.js';
import paths from './paths.js';
import redirects from './redirects.js';
import routes from './routes.js';

const METHOD = /^[-_A-Z]+$/;
// A host of RFC 3986, with a port of digits. nginx refuses an empty one, and two dots in it.
const LABEL = "[-A-Za-z0-9_~%!$&'()*+,;=]+";
const HOST = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*\\.?|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]*)?(?![\\s\\S])`);
// The longest request line and the longest header line that nginx reads.
const MAX_LINE = 8192;

async function respond(request, release) {
    const path = paths.parsed(request.target);
    const refused = refusedEarly(request, path);
    if (refused || routes.isInternal(path.path, path.hasSlash, release.rules)) {
        const family = routes.familyOfLine(request.method, request.target, release.rules);
        return errors.failure(refused || 404, { family, method: request.method }, release);
    }
    return answered(request, path, release);
}

// The API key that a request sends, or an empty text.
function apiKey(request) {
    const sent = request.header('X-API-Key');
    if (sent) {
        return sent;
    }
    const path = request.target.includes('?') ? paths.parsed(request.target) : null;
    return path ? parameters.parameter(path.query, 'api_key') : '';
}

// The status of a request that nginx refuses before it looks at the path; 0 for all others.
function refusedEarly(request, path) {
    const target = request.target;
    const length = target.length * 4 < MAX_LINE ? target.length : bytes.encoded(target).length;
    // Two blanks, the version and a line break.
    if (request.method.length + length + 12 > MAX_LINE) {
        return 414;
    }
    const fields = request.fields || [];
    const isTooLong = fields.some((field) => field[0].length + field[1].length + 4 > MAX_LINE);
    const isHost = request.hosts.every((host) => HOST.test(host));
    if (!path || !isHost || !METHOD.test(request.method) || isTooLong) {
        return 400;
    }
    return request.method === 'TRACE' || request.method === 'CONNECT' ? 405 : 0;
}

async function answered(request, path, release) {
    const rules = release.rules;
    const pathKey = lookup.pathKey(path.path);
    const needsKey = routes.needsKey(pathKey, rules);
    const isKnown = request.digest !== '' && Object.prototype.hasOwnProperty.call(rules.keys, request.digest);
    const refusal = isKnown ? '' : request.digest ? 'invalid' : 'absent';
    const account = isKnown ? rules.keys[request.digest] : '';
    const isInApi = routes.isInApi(path.path);
    const family = routes.family(path.path, rules);
    const call = family === 'app' ? appCalls.called(path.path, rules.apps) : null;
    const found = await (call ? lookup.ofKey(call.key, release) : lookup.chosen(pathKey, path.query, account, release));
    const record = found.record;
    const isBody = record !== null && record.kind === 'body';
    const isSiteFile = family === 'page' && isBody && found.key === pathKey && record.type === 'application/json';
    const state = {
        method: request.method,
        family: isSiteFile && path.path !== '/' ? '' : family,
        key: found.key,
        query: path.query,
        isPrivate: needsKey,
        refusal,
    };
    const fail = (status) => errors.failure(status, state, release);
    // Without pages, nothing but apps exists outside /api.
    const isNowhere = !isInApi && !family && !isBody;
    if (request.header('Transfer-Encoding')) {
        state.isPrivate = false;
        state.key = '';
        return fail(400);
    }
    if (isNowhere) {
        return fail(404);
    }
    if (request.method === 'OPTIONS') {
        return { status: 204, headers: headers.options(), body: null };
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
        return fail(405);
    }
    if (path.isHidden) {
        return fail(404);
    }
    if (call) {
        return answeredCall(request, call, record, state, release);
    }
    if ((needsKey || found.isLocked) && refusal) {
        return fail(401);
    }
    state.isPrivate = needsKey || (record !== null && record.restricted);
    if (path.query && found.key === lookup.SERIES) {
        return list(request, path, state, record, release);
    }
    if (!record) {
        return missing(request, path, pathKey, state, release);
    }
    if (record.restricted && refusal) {
        return fail(401);
    }
    if (record.kind === '451') {
        return fail(451);
    }
    if (record.kind === '302' || record.kind === '308') {
        return errors.redirect(Number(record.kind), record.target, state, rules);
    }
    if (path.query && found.key === lookup.SERIES_OF_KOMGA) {
        const body = await lookup.searchedSeries(path.query, release);
        return body === null ? fail(400) : assembled(request, body, record, state, release);
    }
    const extra = headers.policies(pathKey, isInApi, record.type, rules);
    return resource(request, record, state, extra, release);
}

// A path without a record: below an old slug, malformed, or missing.
function missing(request, path, pathKey, state, release) {
    const why = lookup.missing(pathKey, state.key, release.rules);
    if (why.status !== 302 && why.status !== 308) {
        return errors.failure(why.status, state, release);
    }
    const isPage = state.family === 'page';
    const sent = path.sent ? new Uint8Array(path.sent) : bytes.encoded(path.path);
    const rest = redirects.below(sent.subarray(why.length), isPage);
    const query = path.query ? redirects.query(bytes.encoded(path.query)) : '';
    // A URL with a key must not be stored. In apps, no key is looked at.
    state.isKeyed = why.status === 308 && apiKey(request) !== '';
    return errors.redirect(why.status, why.present + rest + query, state, release.rules);
}

// A call of an app, answered from a public body or gate. Any other, also with an API key, is missing.
async function answeredCall(request, call, record, state, release) {
    const kind = call.kind === 'read' ? '308' : 'body';
    if (!record || record.kind !== kind || record.restricted) {
        return errors.failure(404, state, release);
    }
    if (kind === '308') {
        return errors.redirect(302, record.target, state, release.rules);
    }
    const pages = await release.text(record);
    if (call.kind === 'images') {
        return assembled(request, appCalls.images(pages), record, state, release);
    }
    const image = appCalls.image(pages, call.index);
    return image ? errors.redirect(302, image, state, release.rules) : errors.failure(404, state, release);
}

// A body, or 304 or 412 as the conditions decide.
async function resource(request, record, state, extra, release) {
    const verdict = conditions.verdict(request.header, record.etag, record.modified);
    if (verdict === 'failed') {
        return errors.failure(412, state, release);
    }
    // A strong condition requires the strong form.
    const isPacked = record.gzip && verdict !== 'passed' && codings.acceptsGzip(request.header('Accept-Encoding'));
    const status = verdict === 'fresh' ? 304 : 200;
    const fields = fieldsOf(record, state, status, isPacked, extra);
    if (status === 304) {
        return { status, headers: fields, body: null };
    }
    const body = request.method === 'HEAD' ? null : await release.body(record, isPacked ? 'gzip' : 'plain');
    return { status, headers: fields, body };
}

// The headers of a body or its 304. They stay with the record, so that the same array means the same headers.
function fieldsOf(record, state, status, isPacked, extra) {
    const name = `${status} ${isPacked} ${state.family} ${state.isPrivate}`;
    record.fields = record.fields || Object.create(null);
    record.fields[name] = record.fields[name] || made(record, state, status, isPacked, extra);
    return record.fields[name];
}

function made(record, state, status, isPacked, extra) {
    const fields = headers.common(state.family, cacheControl(record, state), vary(record, state)).concat(extra, [
        ['ETag', isPacked ? `W/"${record.etag}"` : `"${record.etag}"`],
        ['Content-Type', record.type],
    ]);
    if (record.modified >= 0) {
        fields.push(['Last-Modified', httpDates.text(record.modified)]);
    }
    const length = isPacked ? record.stored : record.size;
    if (status === 200 && length !== undefined) {
        fields.push(['Content-Length', String(length)]);
    }
    if (status === 200 && isPacked) {
        fields.push(['Content-Encoding', 'gzip']);
    }
    return fields;
}

// A filtered list, with the date and the age of the index: its Last-Modified changes with any of its series.
async function list(request, path, state, index, release) {
    const body = index ? await lookup.searched(path.query, release) : null;
    return body === null ? errors.failure(404, state, release) : assembled(request, body, index, state, release);
}

// A body that has no file, with the date and the age of the record that it is made from.
function assembled(request, body, source, state, release) {
    const encoded = bytes.encoded(body);
    const record = {
        etag: release.md5(body),
        modified: source.modified,
        maxAge: source.maxAge,
        type: 'application/json',
        gzip: false,
        size: encoded.length,
    };
    const only = { rules: release.rules, find: (key) => release.find(key), body: () => Promise.resolve(encoded) };
    return resource(request, record, state, [], only);
}

function cacheControl(record, state) {
    return `${state.isPrivate ? 'private' : 'public'}, max-age=${record.maxAge}`;
}

function vary(record, state) {
    const fields = state.isPrivate ? ['X-API-Key'] : [];
    return (record.gzip ? fields.concat('Accept-Encoding') : fields).join(', ');
}

export default { respond, apiKey };
