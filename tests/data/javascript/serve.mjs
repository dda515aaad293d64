// Serves a release with the core: records and rules from a JSON file, bodies from the folder dist.
// node serve.mjs FOLDER_OF_MODULES RELEASE.json DIST prints its port.
//
// The server is the smallest that hands a request to the core as runtimes of workers do: one request a connection, no
// body, and a target of text.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, table, dist] = process.argv.slice(2);
const core = (await import(pathToFileURL(join(modules, 'respond.js')))).default;
const { rules, records } = JSON.parse(readFileSync(table, 'utf8'));
const byKey = new Map(Object.entries(records));

const release = {
    rules,
    find: async (key) => byKey.get(key) ?? null,
    body: async (record, form) => readFileSync(join(dist, record.file + (form === 'gzip' ? '.gz' : ''))),
    text: async (record) => readFileSync(join(dist, record.file), 'utf8'),
    index: async () => JSON.parse(readFileSync(join(dist, byKey.get('/of/index/series').file), 'utf8')),
    md5: (text) => createHash('md5').update(text).digest('hex'),
};

function parsed(head) {
    const [line, ...lines] = head.split('\r\n');
    const [, method, target] = /^(\S+) (.*) HTTP\/1\.[01]$/.exec(line);
    const fields = lines.map((field) => /^([^:]+):[ \t]*(.*?)[ \t]*$/.exec(field).slice(1));
    const header = (name) => (fields.find((field) => field[0].toLowerCase() === name.toLowerCase()) ?? ['', ''])[1];
    const absolute = /^[a-z]+:\/\/([^/?#]*)/i.exec(target)?.slice(1) ?? [];
    const hosts = fields.filter((field) => field[0] === 'Host').map((field) => field[1]).concat(absolute);
    const request = { method, target: Buffer.from(target, 'latin1').toString(), header, digest: '', hosts, fields };
    const key = core.apiKey(request);
    request.digest = key && createHash('sha256').update(key).digest('hex');
    return request;
}

async function answer(head) {
    const request = parsed(head);
    const { status, headers, body } = await core.respond(request, release);
    const lines = [`HTTP/1.1 ${status} x`, ...headers.map((field) => field.join(': ')), 'Connection: close', '', ''];
    return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), request.method === 'HEAD' ? '' : body ?? '']
        .map((part) => Buffer.from(part)));
}

const server = createServer((socket) => {
    let head = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', async function read(data) {
        head += data.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end >= 0) {
            socket.off('data', read);
            socket.end(await answer(head.slice(0, end)));
        }
    });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
