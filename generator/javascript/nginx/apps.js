// Calls of apps as functions of nginx variables: what the maps in apps.conf cannot compute.

import fs from 'fs';
import appCalls from '../core/app_calls.js';
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

export default { image, images };
