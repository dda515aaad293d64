// Calls of apps as functions of nginx variables: what the maps in apps.conf cannot compute.

import fs from 'fs';
import appCalls from '../core/app_calls.js';
import komgaList from '../core/komga_list.js';
import flatpanel from './flatpanel.js';

// The body that a call is answered from. The maps have checked that it exists and is public.
function pages(r) {
    const variables = r.variables;
    return fs.readFileSync(`${variables.document_root}/www${variables.fp_key}.${variables.fp_tag}.json`).toString();
}

// The URL of an image of a chapter, or an empty text.
function image(r) {
    return appCalls.image(pages(r), appCalls.called(r.variables.fp_path, ['komga', 'opds']).index);
}

// Respond with the list of images.
function images(r) {
    flatpanel.assembled(r, appCalls.images(pages(r)));
}

// Respond with a page of series, which consists of their bodies.
function series(r) {
    const ask = komgaList.wanted(flatpanel.query(r), fp_index);
    if (ask === null) {
        r.return(400);
        return;
    }
    const page = komgaList.page(ask, fp_index);
    flatpanel.assembled(r, komgaList.body(ask, page.total, page.keys.map((key) => body(r, key))));
}

// The public body of a key. The maps of lines are evaluated again for each key.
function body(r, key) {
    const variables = r.variables;
    variables.fp_lookup = key;
    const line = variables.fp_site_line || variables.fp_other_line;
    return fs.readFileSync(`${variables.document_root}/www${key}.${line.slice(0, 32)}.json`).toString();
}

export default { image, images, series };
