// Runs the worker for buckets on objects that an object store sends. Arguments: the folder of the worker, the URL of the
// bucket, prefixes and URLs, separated by commas. Prints status and MD5 of each body for one prefix after the other,
// and at last those of a worker that never had a pointer. More arguments are a part of a key and a command, which runs
// before the first object with this part is read.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, store, prefixes, urls, part, ...command] = process.argv.slice(2);
const module = pathToFileURL(join(folder, 'worker/bucket.js')).href;
console.error = () => {};
let reads = 0;

const BUCKET = {
    async get(key) {
        reads += key.endsWith('pointer.json');
        if (command.length && key.includes(part)) {
            const [program, ...words] = command.splice(0);
            execFileSync(program, words);
        }
        const response = await fetch(`${store}/${key}`);
        return response.ok ? response : null;
    },
};

async function print(worker, PREFIX) {
    for (const url of urls.split(',')) {
        const response = await worker.fetch(new Request(`https://comics.example${url}`), { BUCKET, PREFIX });
        const bytes = Buffer.from(await response.arrayBuffer());
        console.log(response.status, createHash('md5').update(bytes).digest('hex'));
    }
}

const { default: worker } = await import(module);
const now = Date.now;
for (const [i, prefix] of prefixes.split(',').entries()) {
    Date.now = () => now() + i * 6000;
    await print(worker, prefix);
}
console.log('pointers', reads);
const { default: other } = await import(`${module}?other`);
await print(other, 'nothing');
