// Answers requests of any platform that has Request and Response, from the newest release of a site.

import { createHash } from 'node:crypto';
import errors from '../core/errors.js';
import core from '../core/respond.js';
import routes from '../core/routes.js';
import { Release } from './reader.js';

// Scheme and authority. Path and query stay as they were received: a URL object would change them.
const ORIGIN = /^([a-z]+:\/\/)([^/?#]*)/i;
// How long a worker that runs answers from the release before the one that `pack` wrote.
const MILLISECONDS = 1000;
const NO_RELEASE = '{"error":"Internal server error","status":500}';
const decoder = new TextDecoder();

// Files of a release are removed when the next one is published. So a site looks for the current release after a pause
// of some milliseconds, and when a request fails.
export class Site {
    // `newest` is a function of the files (reader.js) and of the name of the release that answers: a promise of name,
    // rules and directories of the current one, or of null if it is the same. One without rules cannot be read.
    constructor(newest, milliseconds) {
        this.newest = newest;
        this.pause = milliseconds;
        this.name = '';
        this.release = null;
        this.checked = -Infinity;
    }

    open({ name, rules, directories }) {
        this.name = name;
        this.release = rules ? new Release(rules, directories) : this.release;
    }

    async update(files) {
        if (this.release) {
            // Other requests do not wait for this one.
            this.checked = Date.now();
        }
        try {
            const found = await this.newest(files, this.name);
            if (found) {
                this.open(found);
            }
            this.checked = Date.now();
        } catch (error) {
            console.error(error);
        }
    }

    async answer(request, files) {
        if (Date.now() - this.checked > this.pause) {
            await this.update(files);
        }
        const sent = this.release ? await this.respond(requestReader(request), files) : {
            status: 500,
            headers: [['Content-Type', 'application/json'], ['Cache-Control', 'no-store']],
            body: NO_RELEASE,
        };
        return response(sent, request.method);
    }

    async respond(reader, files) {
        const release = this.release;
        const reading = release.over(files);
        try {
            return await core.respond(reader, reading);
        } catch (error) {
            await this.update(files);
            if (this.release !== release) {
                return this.respond(reader, files);
            }
            // A file cannot be read. The response is not cached, so that it ends with its cause.
            console.error(error);
            const family = routes.familyOfLine(reader.method, reader.target, reading.rules);
            return errors.failure(500, { family, method: reader.method }, reading);
        }
    }
}

// The site of a packed folder; `text` is its release when the worker starts. `files.release` gives the bytes of the
// current one, or null where it is always the same.
export function ofFolder(text) {
    const own = JSON.parse(text);
    const site = new Site(async (files, known) => {
        const bytes = await files.release();
        const name = bytes ? decoder.decode(bytes) : known;
        if (name === known) {
            return null;
        }
        const { code, rules, directories } = JSON.parse(name);
        if (code !== own.code) {
            console.error('The folder has a release of another version of the program. Start the worker again.');
            return { name };
        }
        return { name, rules, directories };
    }, MILLISECONDS);
    site.open({ name: text, rules: own.rules, directories: own.directories });
    return site;
}

function requestReader(request) {
    const headers = request.headers;
    const url = request.url;
    // The URL is an absolute target, or the Host and the target, one behind the other. One that is * leaves nothing.
    const [origin, scheme, authority] = ORIGIN.exec(url);
    // Runtimes join both without a check: `Host: x/api/v2/chapters/704?` would choose the path.
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
    // workerd alone sends no date. The response gets a copy of the headers.
    headers.set('Date', new Date().toUTCString());
    let body = method === 'HEAD' ? null : answer.body;
    // workerd sends a stream in chunks unless its length is fixed.
    if (body instanceof ReadableStream && headers.has('Content-Length') && globalThis.FixedLengthStream) {
        body = body.pipeThrough(new globalThis.FixedLengthStream(Number(headers.get('Content-Length'))));
    }
    // The body is compressed already where a header says so.
    return new Response(body, { status: answer.status, headers, encodeBody: 'manual' });
}
