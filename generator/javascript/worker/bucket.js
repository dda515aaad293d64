// The worker on Cloudflare in front of a bucket that `publish s3://… --layout packs` fills. The release is in the
// bucket, too: a pointer names it, so a publish needs no deployment. The bucket is bound as BUCKET; the variable PREFIX
// is the prefix of the target.

import { Site } from './release.js';

const POINTER = '.flatpanel/pointer.json';
// How long a release stays after the pointer has changed. A request that misses one of its files gets the next one.
const MILLISECONDS = 5000;

// The value of an object, or null.
async function json(files, path) {
    const bytes = await files.read(path);
    return bytes && JSON.parse(new TextDecoder().decode(bytes));
}

// A publish may remove the object that the pointer named: `missing`. The pointer names another one then.
async function newest(files, known, missing) {
    const pointer = await json(files, POINTER);
    if (pointer?.worker === known) {
        return null;
    }
    const release = pointer && await json(files, pointer.worker);
    if (release) {
        return { ...release, name: pointer.worker };
    }
    if (!pointer || pointer.worker === missing) {
        throw new Error(`${pointer ? missing : POINTER} is missing`);
    }
    return newest(files, known, pointer.worker);
}

const site = new Site(newest, MILLISECONDS);

export default {
    async fetch(request, env) {
        const get = (path) => env.BUCKET.get((env.PREFIX ? `${env.PREFIX}/` : '') + path);
        return site.answer(request, {
            read: async (path) => (await get(path))?.arrayBuffer() ?? null,
            stream: async (path) => (await get(path))?.body ?? null,
        });
    },
};
