// Calls functions of the shim, one line of JSON each, and answers with what they returned or did.
// node call.mjs FOLDER index.json

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { modules } from './modules.mjs';

globalThis.fp_index = JSON.parse(readFileSync(process.argv[3], 'utf8'));
const shim = await modules(process.argv[2]);

function request(given, done) {
    const variables = { args: given.args, ...given.variables };
    const raw = Object.entries(variables).filter(([, text]) => text !== null && text !== undefined);
    return {
        headersIn: given.headers || {},
        variables,
        rawVariables: Object.fromEntries(raw.map(([name, text]) => [name, Buffer.from(text)])),
        return: (status, body) => done.push('return', status, ...(body === undefined ? [] : [body])),
        internalRedirect: (path) => done.push('internalRedirect', path),
    };
}

for await (const line of createInterface({ input: process.stdin })) {
    const { call, given, plain } = JSON.parse(line);
    const done = [];
    const index = (given && given.index) || fp_index;
    const r = request(given || {}, done);
    const returned = plain ? shim[call](...plain, index) : shim[call](r);
    process.stdout.write(`${JSON.stringify({ returned: returned ?? null, done, variables: r.variables })}\n`);
}
