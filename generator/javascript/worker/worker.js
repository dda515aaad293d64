// Answers requests of any platform that has Request and Response.

import { createHash } from 'node:crypto';
import errors from '../core/errors.js';
import core from '../core/respond.js';
import routes from '../core/routes.js';
import { Release } from './reader.js';

// Scheme and authority. Path and query stay as they were received: a URL object would change them.
const ORIGIN = /^([a-z]+:\/\/)([^/?#]*)/i;

// A function that answers a request of this release. `files` reads its files (reader.js).
export default function open(rules, directories) {
    const release = new Release(rules, directories);
    return async (request, files) => {
        const reader = requestReader(request);
        const reading = release.over(files);
        let answer;
        try {
            answer = await core.respond(reader, reading);
        } catch (error) {
            // A file cannot be read. The response is not cached, so that it ends with its cause.
            console.error(error);
            const family = routes.familyOfLine(reader.method, reader.target, rules);
            answer = await errors.failure(500, { family, method: reader.method }, reading);
        }
        return response(answer, request.method);
    };
}

function requestReader(request) {
    const headers = request.headers;
    const url = request.url;
    // The URL is an absolute target, or the Host and the target, one behind the other. One that is * leaves nothing.
    const [origin, scheme, authority] = ORIGIN.exec(url);
    const host = headers.get('host') ?? authority;
    const before = url.startsWith(scheme + host) ? scheme.length + host.length : 0;
    const target = url.slice(Math.max(origin.length, before)) || '*';
    const reader = {
        method: request.method,
        target: target.startsWith('?') ? `/${target}` : target,
        hosts: [host, authority],
        header(name) {
            // Cloudflare asks for gzip in the place of clients, and says what they accept.
            const accepted = name.toLowerCase() === 'accept-encoding' && request.cf?.clientAcceptEncoding;
            return accepted || headers.get(name) || '';
        },
        digest: '',
    };
    const key = core.apiKey(reader);
    reader.digest = key ? createHash('sha256').update(key).digest('hex') : '';
    return reader;
}

// Headers by the array that they were made of: the core gives the same array for the same headers. Making
// them takes a third of the time of a response.
const made = new WeakMap();

function headersOf(fields) {
    if (!made.has(fields)) {
        made.set(fields, new Headers(fields));
    }
    return made.get(fields);
}

function response(answer, method) {
    const headers = headersOf(answer.headers);
    let body = method === 'HEAD' ? null : answer.body;
    // workerd sends a stream in chunks unless its length is fixed.
    if (body instanceof ReadableStream && headers.has('Content-Length') && globalThis.FixedLengthStream) {
        body = body.pipeThrough(new globalThis.FixedLengthStream(Number(headers.get('Content-Length'))));
    }
    // The body is compressed already where a header says so.
    return new Response(body, { status: answer.status, headers, encodeBody: 'manual' });
}
