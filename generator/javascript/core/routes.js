// What follows from a path alone: the form of its errors, and whether it needs an API key.

const V2 = /^[-_A-Z]+ (?:[A-Za-z0-9_]+:\/\/[^/]*)?\/+api\/+v2(?:[/?#\s]|(?![\s\S]))/;
const PAGE = new RegExp('^[-_A-Z]+ (?:[A-Za-z0-9_]+://[^/\\s]*)?/(?!(?:api|index\\.json)(?:[/?#\\s]|(?![\\s\\S]))'
    + '|[^?#\\s]*(?:/\\.|%2[EeFf]))(?:[-A-Za-z0-9_~][-A-Za-z0-9_~.]*(?:[/?#\\s]|(?![\\s\\S]))|[?#\\s]|(?![\\s\\S]))');
const APP = /^[-_A-Z]+ (?:[A-Za-z0-9_]+:\/\/[^/]*)?\/+([a-z]+)(?:[/?#\s]|(?![\s\S]))/;
const ACCOUNT = /^\/api\/v2\/(bookmarks|profile)$/;
// Locations that only nginx itself reaches; they exist for no method.
const INTERNAL = /^\/_flatpanel\/(?:search|fresh|moved|options|refused|error|range|again)$/;

// A path belongs to `v2` or an `app`, or is a `page`, or has another error form (empty). A page of JSON is none.
function family(path, rules) {
    if (isInApi(path)) {
        return path === '/api/v2' || path.startsWith('/api/v2/') ? 'v2' : '';
    }
    if (rules.apps && rules.apps.includes(path.split('/', 2)[1])) {
        return 'app';
    }
    return rules.pages ? 'page' : '';
}

// The same for a request that is refused before its path is known.
function familyOfLine(method, target, rules) {
    const line = `${method} ${target} HTTP/1.1`;
    if (V2.test(line)) {
        return 'v2';
    }
    const app = rules.apps ? APP.exec(line) : null;
    if (app && rules.apps.includes(app[1])) {
        return 'app';
    }
    return rules.pages && PAGE.test(line) ? 'page' : '';
}

function isInApi(path) {
    return path === '/api' || path.startsWith('/api/');
}

// Does nginx answer below a path only itself?
function isInternal(path, hasSlash, rules) {
    return !hasSlash && (INTERNAL.test(path) || (rules.pages && path === '/_flatpanel/page_error')
        || (rules.apps && (path === '/_flatpanel/images' || path === '/_flatpanel/series')));
}

// Whether every URL of the route needs a key: accounts, and the routes under `restricted` in site.yaml.
function needsKey(path, rules) {
    if (!path.startsWith('/api/v2/')) {
        return false;
    }
    return ACCOUNT.test(path) || rules.restricted.some((route) => covers(`/api/v2${route}`, path));
}

// Does a route with {…} in place of segments have a path?
function covers(route, path) {
    const names = route.split('/');
    const segments = path.split('/');
    return names.length === segments.length && names.every((name, i) => (
        name.charAt(0) === '{' ? segments[i] !== '' : name === segments[i]
    ));
}

// The path of accounts: bookmarks or profile; or empty.
function own(path) {
    const found = ACCOUNT.exec(path);
    return found ? found[1] : '';
}

export default { family, familyOfLine, isInApi, isInternal, needsKey, own };
