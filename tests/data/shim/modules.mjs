// The functions of all modules of the shim in a folder.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export async function modules(folder) {
    const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
    const loaded = await Promise.all(names.map((name) => import(pathToFileURL(join(folder, name)))));
    return Object.assign({}, ...loaded.map((module) => module.default));
}
