// A release as the core reads it: records by key, bodies, and the index of searches.
//
// `files` has two functions of the platform, which get the path of a file below the folder `files`: `read` gives an
// ArrayBuffer, `stream` a stream; both give null if there is no such file.

import { createHash } from 'node:crypto';
import { Directory, find, keyDigest } from './packs.js';

// Bytes that stay in memory: of packs, and of the records that were used last, with their bodies. 800 polled URLs lie in
// as many packs, 40 MB; their bodies are 1 MB.
const MAX_PACKS = 4 * 2 ** 20;
const MAX_RECORDS = 8 * 2 ** 20;
// What a record and its headers take besides the body, about.
const RECORD = 4096;
const TREES = ['public', 'private'];
const INDEX = '/of/index/series';

// Values by name, the last used at the end, until their sizes are more than a limit. None of them ever changes.
class Cache {
    constructor(limit) {
        this.limit = limit;
        this.size = 0;
        this.entries = new Map();
    }

    get(name) {
        const entry = this.entries.get(name);
        if (!entry) {
            return null;
        }
        this.entries.delete(name);
        this.entries.set(name, entry);
        return entry.value;
    }

    set(name, value, size) {
        // Two requests may have read the same value.
        this.remove(name);
        this.entries.set(name, { value, size });
        this.size += size;
        while (this.size > this.limit) {
            this.remove(this.entries.keys().next().value);
        }
    }

    remove(name) {
        const entry = this.entries.get(name);
        if (entry) {
            this.entries.delete(name);
            this.size -= entry.size;
        }
    }
}

// Objects whose names come from the catalog, such as `constructor`.
function withoutPrototype(value) {
    return Object.assign(Object.create(null), value);
}

export class Release {
    constructor(rules, directories) {
        this.rules = {
            ...rules,
            keys: withoutPrototype(rules.keys),
            redirects: withoutPrototype(rules.redirects),
        };
        this.directories = TREES.map((tree) => ({ tree, leaves: new Directory(directories[tree]) }));
        this.packs = new Cache(MAX_PACKS);
        this.records = new Cache(MAX_RECORDS);
        this.searched = null;
    }

    // The release for one request.
    over(files) {
        return {
            rules: this.rules,
            find: (key) => this.find(key, files),
            body: (record, form) => this.body(record, form, files),
            text: (record) => this.text(record, files),
            index: () => this.index(files),
            md5: (text) => createHash('md5').update(text).digest('hex'),
        };
    }

    // The record of a key, or null. A URL that apps poll costs no read and no digest.
    async find(key, files) {
        const known = this.records.get(key);
        if (known) {
            return known;
        }
        const record = await this.read(key, files);
        if (record) {
            // A copy, which does not keep the whole pack in memory.
            record.data = record.data && record.data.slice();
            this.records.set(key, record, RECORD + (record.data ? record.data.length : 0));
        }
        return record;
    }

    async read(key, files) {
        const digest = keyDigest(key);
        for (const { tree, leaves } of this.directories) {
            const name = leaves.name(digest);
            const record = name && (await this.search(`${tree}/${name}`, digest, files));
            if (record) {
                record.tree = tree;
                return record;
            }
        }
        return null;
    }

    // The record of a digest in a pack, or null. A pack that cannot be read is not kept: its file may be repaired.
    async search(path, digest, files) {
        const known = this.packs.get(path);
        const pack = known || (await files.read(path));
        if (!pack) {
            throw new Error(`${path} is missing`);
        }
        const record = find(pack, digest, this.rules.types);
        if (!known) {
            this.packs.set(path, pack, pack.byteLength);
        }
        return record;
    }

    // The body of a record: its gzip form if `form` is 'gzip', else the plain form.
    async body(record, form, files) {
        const unpack = record.gzip && form !== 'gzip';
        if (record.data) {
            return unpack ? unpacked(record.data) : record.data;
        }
        const stream = await files.stream(`${record.tree}/${record.file}`);
        if (!stream) {
            throw new Error(`${record.tree}/${record.file} is missing`);
        }
        return unpack ? stream.pipeThrough(new DecompressionStream('gzip')) : stream;
    }

    async text(record, files) {
        return new Response(await this.body(record, 'plain', files)).text();
    }

    // The index is parsed once; null without it. A failure is not kept.
    async index(files) {
        const record = this.searched ? null : await this.find(INDEX, files);
        if (record) {
            const text = await this.text(record, files);
            this.searched = JSON.parse(text);
        }
        return this.searched;
    }
}

async function unpacked(data) {
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}
