// The images of the example, for `make serve-workerd` and `make serve-deno`: a host serves them from somewhere else.

const TYPES = { avif: 'image/avif', gif: 'image/gif', jpg: 'image/jpeg', png: 'image/png', webp: 'image/webp' };

// The path of an image below media/ and its type, or null.
export default function image(request) {
    const found = /^[a-z]+:\/\/[^/]+\/media\/((?:[-\w]+\/)*[-\w]+\.(\w+))$/.exec(request.url);
    const type = found && TYPES[found[2]];
    return type && (request.method === 'GET' || request.method === 'HEAD') ? { path: found[1], type } : null;
}
