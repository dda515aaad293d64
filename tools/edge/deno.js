// The front of `make serve-deno`: it runs in build/edge, whose worker starts the server.

import image from './images.js';

const MEDIA = new URL('../../media/', import.meta.url);
const serve = Deno.serve;

async function answer(request, site) {
    const asked = image(request);
    try {
        return asked
            ? new Response(await Deno.readFile(new URL(asked.path, MEDIA)), { headers: { 'Content-Type': asked.type } })
            : await site(request);
    } catch (error) {
        if (error instanceof Deno.errors.NotFound) {
            return site(request);
        }
        throw error;
    }
}

Deno.serve = (options, site) => serve(options, (request) => answer(request, site));
await import('../../build/edge/worker/deno.js');
