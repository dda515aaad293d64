// The worker on Deno and Deno Deploy. Files lie beside the folder of this module.

import site from './release.js';

const FOLDER = new URL('../files/', import.meta.url);
const RELEASE = new URL('release.json', import.meta.url);

async function orNull(reading) {
    try {
        return await reading;
    } catch (error) {
        if (error instanceof Deno.errors.NotFound) {
            return null;
        }
        throw error;
    }
}

const files = {
    read: async (path) => (await orNull(Deno.readFile(new URL(path, FOLDER))))?.buffer ?? null,
    stream: async (path) => (await orNull(Deno.open(new URL(path, FOLDER))))?.readable ?? null,
    release: () => orNull(Deno.readFile(RELEASE)),
};

// Deno Deploy ignores the address.
const hostname = Deno.env.get('HOST') || '127.0.0.1';
const port = Number(Deno.env.get('PORT') || 8789);

Deno.serve({ hostname, port }, (request) => site.answer(request, files));
