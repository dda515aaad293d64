// Calls functions of the shim with a query and counts what they look at: one line of JSON each.
// node cost.mjs FOLDER index.json
//
// visits: elements of the index and of sets that are read, names that are looked up, pieces that a query is split into,
// and calls of a function of the engine with a text of more than one letter. A text of a series is one visit.
// characters: the length of each text of a query that is handed to a function of the engine, once for every such call.

import querystring from 'node:querystring';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { modules } from './modules.mjs';

const count = { visits: 0, characters: 0 };
let counting = false;
let inside = false;
let text = null;

function counted(value) {
    if (typeof value === 'string') {
        text = value;
    }
    if (value === null || typeof value !== 'object') {
        return value;
    }
    return new Proxy(value, {
        get(target, name) {
            const found = target[name];
            if (typeof found === 'function') {
                count.visits += target.length;
                return (...values) => counted(found.apply(target, values));
            }
            if (name !== 'length') {
                count.visits += 1;
            }
            return counted(found);
        },
    });
}

function wrap(owner, name, size) {
    const original = owner[name];
    owner[name] = function wrapped(...values) {
        if (!counting || inside) {
            return original.apply(this, values);
        }
        inside = true;
        try {
            const found = original.apply(this, values);
            const length = size(this, values, found);
            count.characters += length;
            count.visits += length > 1 ? 1 : 0;
            return found;
        } catch (error) {
            // To name the function that threw, njs looks through all that is preloaded.
            count.visits += 1e6;
            throw error;
        } finally {
            inside = false;
        }
    };
}

const own = (self) => (String(self) === text ? 0 : self.length);
for (const name of ['toLowerCase', 'trim', 'includes', 'indexOf', 'match', 'charAt', 'charCodeAt', 'padEnd']) {
    wrap(String.prototype, name, own);
}
// Replacing a pattern takes njs 7 us a match.
wrap(String.prototype, 'replace', (self, values) => {
    count.visits += 50 * (self.match(values[0]) || []).length;
    return self.length;
});
wrap(String.prototype, 'slice', (self, values, found) => found.length);
wrap(String.prototype, 'split', (self, values, found) => {
    count.visits += found.length;
    return self.length;
});
wrap(RegExp.prototype, 'exec', (self, values) => String(values[0]).length);
wrap(RegExp.prototype, 'test', (self, values) => String(values[0]).length);
wrap(globalThis, 'decodeURIComponent', (self, values) => values[0].length);
wrap(querystring, 'unescape', (self, values) => values[0].length);
const { Int32Array } = globalThis;
globalThis.Int32Array = function Counted(...values) {
    return counted(new Int32Array(...values));
};
wrap(Buffer, 'from', (self, values) => values[0].length);

globalThis.fp_index = counted(JSON.parse(readFileSync(process.argv[3], 'utf8')));
const shim = await modules(process.argv[2]);

for await (const line of createInterface({ input: process.stdin })) {
    const { calls, query } = JSON.parse(line);
    const done = [];
    const variables = { fp_found: 'body', fp_key: '/bad/volume' };
    const raw = { args: Buffer.from(query), request_uri: Buffer.from(`/?${query}`) };
    const r = { headersIn: {}, variables, rawVariables: raw, return: (...values) => done.push(...values) };
    // What the shim keeps of a request is not what it keeps of the next.
    shim.list({ ...r, rawVariables: { args: Buffer.from('page=2') } });
    Object.assign(count, { visits: 0, characters: 0 });
    counting = true;
    let key = null;
    for (const call of calls) {
        if (call !== 'search' || key === '/of/index/series') {
            key = shim[call](r) ?? key;
        }
    }
    counting = false;
    process.stdout.write(`${JSON.stringify({ ...count, key, status: done[0] ?? null })}\n`);
}
