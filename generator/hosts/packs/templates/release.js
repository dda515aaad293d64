// Release {{ release }}, written by Flatpanel. It has digests of API keys: a public folder must not have this file.

import { Site, ofFolder } from './{{ code }}/worker.js';

// For a worker that has its releases in a bucket.
export { Site };

export default ofFolder({{ text }});
