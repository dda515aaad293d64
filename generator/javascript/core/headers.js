// Headers of responses.

const METHODS = 'GET, HEAD, OPTIONS';
const REQUEST_HEADERS = 'X-API-Key, If-None-Match, If-Modified-Since';

// Headers of all responses but that to OPTIONS. Empty values are not sent.
function common(family, cacheControl, vary) {
    const headers = [
        ['Cache-Control', cacheControl],
        ['X-Frame-Options', 'SAMEORIGIN'],
        ['X-Content-Type-Options', 'nosniff'],
        ['Access-Control-Allow-Origin', '*'],
        ['Access-Control-Expose-Headers', 'ETag'],
    ];
    if (vary) {
        headers.push(['Vary', vary]);
    }
    if (family === 'app') {
        headers.push(['X-Robots-Tag', 'noindex']);
    }
    return family === 'v2' ? headers.concat(crossOrigin()) : headers;
}

function crossOrigin() {
    return [
        ['Access-Control-Allow-Methods', METHODS],
        ['Access-Control-Allow-Headers', REQUEST_HEADERS],
    ];
}

// The policy of a page, of the documentation, of an image, or of the service worker of pages. JSON, feeds and style sheets have none.
function policies(key, isInApi, type, rules) {
    if (isInApi) {
        return type === 'application/json' ? [] : [['Content-Security-Policy', rules.policies.docs]];
    }
    if (type.startsWith('text/html')) {
        return ofPage(rules);
    }
    if (key === '/sw.js') {
        return [['Content-Security-Policy', rules.policies.worker]];
    }
    return type === 'image/svg+xml' ? [['Content-Security-Policy', rules.policies.svg]] : [];
}

function ofPage(rules) {
    return [
        ['Content-Security-Policy', rules.policies.pages],
        ['Referrer-Policy', 'strict-origin-when-cross-origin'],
    ];
}

// Headers of the response to OPTIONS.
function options() {
    return [
        ['Allow', METHODS],
        ['Access-Control-Allow-Origin', '*'],
        ['Access-Control-Max-Age', '86400'],
        ['Cache-Control', 'public, max-age=86400'],
    ].concat(crossOrigin());
}

export default { METHODS, common, policies, ofPage, options };
