// Reads packs: generator/hosts/packs/pack_format.py describes the format.

import { createHash } from 'node:crypto';

const DIGEST = 16;
const RECORD = 60;
const HEAD = 8;
const MAGIC = 0x46504b31;
// The last one has a bit of its own.
const KINDS = ['body', '308', '451', 'alias', '', '302'];
const RESTRICTED = 4;
const GZIP = 8;
const ALONE = 16;
const FOUND = 32;
const NO_DATE = 2 ** 48 - 1;
// Pages of one list share the beginning of their digests.
const LIST_PAGE = /^(\/(?:query\/series|library|categories)(?:\/[^/]+)?)\/[0-9]+$/;
const SHARED = 2;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hex(bytes) {
    let text = '';
    for (let i = 0; i < bytes.length; i++) {
        text += HEX[bytes[i]];
    }
    return text;
}

function sixBytes(view, at) {
    return view.getUint16(at) * 2 ** 32 + view.getUint32(at + 2);
}

// Compare 16 bytes of two arrays.
function order(bytes, at, digest) {
    for (let i = 0; i < DIGEST; i++) {
        const difference = bytes[at + i] - digest[i];
        if (difference) {
            return difference;
        }
    }
    return 0;
}

// The leaves of a tree, and the names of their packs.
export class Directory {
    constructor(text) {
        const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        const count = bytes.length / (DIGEST + 1);
        this.names = bytes;
        this.starts = new Float64Array(count);
        let start = 0;
        for (let i = 0; i < count; i++) {
            this.starts[i] = start;
            start += 2 ** (32 - bytes[i * (DIGEST + 1)]);
        }
    }

    // The name of the pack that has a key; empty if there is none.
    name(digest) {
        const place = ((digest[0] << 24) | (digest[1] << 16) | (digest[2] << 8) | digest[3]) >>> 0;
        let low = 0;
        let high = this.starts.length;
        while (high - low > 1) {
            const middle = (low + high) >>> 1;
            if (this.starts[middle] <= place) {
                low = middle;
            } else {
                high = middle;
            }
        }
        const at = low * (DIGEST + 1) + 1;
        const name = hex(this.names.subarray(at, at + DIGEST));
        return /[^0]/.test(name) ? name : '';
    }
}

function sha256(text) {
    return createHash('sha256').update(text).digest();
}

export function keyDigest(key) {
    const digest = sha256(key);
    const page = LIST_PAGE.exec(key);
    if (page) {
        digest.copyWithin(SHARED, 0);
        digest.set(sha256(page[1]).subarray(0, SHARED));
    }
    return digest.subarray(0, DIGEST);
}

// The record of a key in a pack, or null. `types` are the media types of all bodies.
export function find(pack, digest, types) {
    const bytes = new Uint8Array(pack);
    const view = new DataView(pack);
    if (bytes.length < HEAD || view.getUint32(0) !== MAGIC) {
        throw new Error('not a pack');
    }
    let low = 0;
    let high = view.getUint32(4);
    while (low < high) {
        const middle = (low + high) >>> 1;
        const at = HEAD + middle * RECORD;
        const side = order(bytes, at, digest);
        if (!side) {
            return record(bytes, view, at, types);
        }
        if (side < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return null;
}

function record(bytes, view, at, types) {
    const modified = sixBytes(view, at + 32);
    const flags = view.getUint8(at + 42);
    const kind = KINDS[flags & 3 | (flags & FOUND) >> 3];
    const isAlone = Boolean(flags & ALONE);
    const stored = sixBytes(view, at + 50);
    const start = view.getUint32(at + 56);
    const data = bytes.subarray(start, start + (isAlone ? DIGEST : stored));
    const isBody = kind === 'body';
    return {
        kind,
        restricted: Boolean(flags & RESTRICTED),
        etag: isBody ? hex(bytes.subarray(at + 16, at + 32)) : '',
        modified: modified === NO_DATE ? -1 : modified,
        maxAge: view.getUint32(at + 38),
        type: types[view.getUint8(at + 43)],
        gzip: Boolean(flags & GZIP),
        size: sixBytes(view, at + 44),
        // The length of the stored form: that of the gzip form if there is one.
        stored,
        target: isBody ? '' : new TextDecoder().decode(data),
        // The body, or the name of its file.
        data: isBody && !isAlone ? data : null,
        file: isAlone ? hex(data) : '',
    };
}
