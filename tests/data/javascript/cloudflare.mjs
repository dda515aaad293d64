// Runs the worker for Cloudflare with assets from a packed folder. Asks for a URL once for each coding that a client
// accepts, which Cloudflare names in `cf`; prints status, MD5 of the body, and its coding.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

const [folder, url, ...codings] = process.argv.slice(2);
const { default: worker } = await import(pathToFileURL(join(folder, 'worker/cloudflare.js')));
const ASSETS = {
    async fetch(asset) {
        const file = join(folder, 'files', new URL(asset).pathname);
        return existsSync(file) ? new Response(readFileSync(file)) : new Response('', { status: 404 });
    },
};

for (const accepted of codings) {
    const request = new Request(`https://comics.example${url}`, { headers: { 'Accept-Encoding': 'gzip, br' } });
    Object.defineProperty(request, 'cf', { value: { clientAcceptEncoding: accepted } });
    const response = await worker.fetch(request, { ASSETS });
    const bytes = Buffer.from(await response.arrayBuffer());
    const coding = response.headers.get('content-encoding') ?? '-';
    const body = coding === 'gzip' ? gunzipSync(bytes) : bytes;
    console.log(response.status, createHash('md5').update(body).digest('hex'), coding);
}
