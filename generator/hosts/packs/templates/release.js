// Release {{ release }}, written by Flatpanel. It has digests of API keys: a public folder must not have this file.

import open from './{{ code }}/worker.js';

// For a worker that has its releases in a bucket.
export { open };

export default open(
    JSON.parse({{ rules }}),
    {{ directories }},
);
