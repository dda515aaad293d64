// Calls functions of modules in a folder, one line of JSON each, and answers with what they returned.
// node call.mjs FOLDER
//
// A value {"headers": {…}} becomes the function that gives a header.

import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

function value(given) {
    return given?.headers ? (name) => given.headers[name] ?? '' : given;
}

for await (const line of createInterface({ input: process.stdin })) {
    const { module, call, values } = JSON.parse(line);
    const loaded = await import(pathToFileURL(join(process.argv[2], `${module}.js`)));
    const returned = await loaded.default[call](...values.map(value));
    process.stdout.write(`${JSON.stringify(returned ?? null)}\n`);
}
