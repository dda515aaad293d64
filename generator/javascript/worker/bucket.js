// The worker on Cloudflare in front of a bucket that `publish s3://… --layout packs` fills. The release is in the
// bucket, too: a pointer names it, so a publish needs no deployment. The bucket is bound as BUCKET; the variable PREFIX
// is the prefix of the target.

import { open } from './release.js';

const POINTER = '.flatpanel/pointer.json';
// How long a release stays after the pointer has changed. All of its packs stay longer (--keep).
const MILLISECONDS = 5000;
const current = { key: '', answer: null, checked: -Infinity };

async function json(bucket, key) {
    const found = await bucket.get(key);
    if (!found) {
        throw new Error(`${key} is missing`);
    }
    return JSON.parse(await found.text());
}

async function update(bucket, prefix) {
    if (current.answer) {
        // Other requests do not wait for this one.
        current.checked = Date.now();
    }
    const { worker } = await json(bucket, prefix + POINTER);
    if (worker !== current.key) {
        const { rules, directories } = await json(bucket, prefix + worker);
        current.answer = open(rules, directories);
        current.key = worker;
    }
    current.checked = Date.now();
}

export default {
    async fetch(request, env) {
        const prefix = env.PREFIX ? `${env.PREFIX}/` : '';
        if (Date.now() - current.checked > MILLISECONDS) {
            try {
                await update(env.BUCKET, prefix);
            } catch (error) {
                console.error(error);
                if (!current.answer) {
                    return new Response('{"error":"Internal server error","status":500}', {
                        status: 500,
                        headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
                    });
                }
            }
        }
        const get = (path) => env.BUCKET.get(prefix + path);
        return current.answer(request, {
            read: async (path) => (await get(path))?.arrayBuffer() ?? null,
            stream: async (path) => (await get(path))?.body ?? null,
        });
    },
};
