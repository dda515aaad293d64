// The worker on Cloudflare, and in workerd. Files are static assets, which no request reaches without the worker
// (run_worker_first). workerd alone has the binding RELEASE: on Cloudflare, the release is part of the deployment.

import site from './release.js';

async function file(service, path) {
    const found = await service?.fetch(`http://assets.local/${path}`);
    return found?.ok ? found : null;
}

export default {
    async fetch(request, env) {
        return site.answer(request, {
            read: async (path) => (await file(env.ASSETS, path))?.arrayBuffer() ?? null,
            stream: async (path) => (await file(env.ASSETS, path))?.body ?? null,
            release: async () => (await file(env.RELEASE, 'release.json'))?.arrayBuffer() ?? null,
        });
    },
};
