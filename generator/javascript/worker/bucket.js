// The worker on Cloudflare in front of a bucket that `publish s3://… --layout packs` fills. The release is in the
// bucket, too: a pointer names it, so a publish needs no deployment. The bucket is bound as BUCKET; the variable PREFIX
// is the prefix of the target.

import { Site } from './release.js';

const POINTER = '.flatpanel/pointer.json';
// How long a release stays after the pointer has changed. A request that misses one of its files gets the next one.
const MILLISECONDS = 5000;

async function json(files, path) {
    const bytes = await files.read(path);
    if (!bytes) {
        throw new Error(`${path} is missing`);
    }
    return JSON.parse(new TextDecoder().decode(bytes));
}

const site = new Site(async (files, known) => {
    const { worker } = await json(files, POINTER);
    return worker === known ? null : { ...await json(files, worker), name: worker };
}, MILLISECONDS);

export default {
    async fetch(request, env) {
        const get = (path) => env.BUCKET.get((env.PREFIX ? `${env.PREFIX}/` : '') + path);
        return site.answer(request, {
            read: async (path) => (await get(path))?.arrayBuffer() ?? null,
            stream: async (path) => (await get(path))?.body ?? null,
        });
    },
};
