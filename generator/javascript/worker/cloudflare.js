// The worker on Cloudflare, and in workerd. Files are static assets, which no request reaches without the worker
// (run_worker_first).

import answer from './release.js';

async function asset(env, path) {
    const found = await env.ASSETS.fetch(`http://assets.local/${path}`);
    return found.ok ? found : null;
}

export default {
    async fetch(request, env) {
        const response = await answer(request, {
            read: async (path) => (await asset(env, path))?.arrayBuffer() ?? null,
            stream: async (path) => (await asset(env, path))?.body ?? null,
        });
        // workerd alone sends no date.
        response.headers.set('Date', new Date().toUTCString());
        return response;
    },
};
