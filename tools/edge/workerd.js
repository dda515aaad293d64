// The front of `make serve-workerd`.

import image from './images.js';

export default {
    async fetch(request, env) {
        const asked = image(request);
        const found = asked && await env.MEDIA.fetch(`http://media.local/${asked.path}`);
        if (!found?.ok) {
            return env.SITE.fetch(request);
        }
        return new Response(found.body, { headers: { 'Content-Type': asked.type } });
    },
};
