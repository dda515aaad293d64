// What a redirect from an old slug repeats of a request: the rest of its path, and its query without an API key.

import bytes from './bytes.js';
import parameters from './parameters.js';

// Texts of ASCII characters that a redirect repeats in its path, and in its query.
const PATH = /^[-A-Za-z0-9._~!$&'()*+,;=:@/]*(?![\s\S])/;
const QUERY = /^[-A-Za-z0-9._~!$&'()*+,;=:@/%?#[\]^`{|}]*(?![\s\S])/;

// The rest of a path, from its bytes. The URL of a page ends in a slash, that of a feed does not.
function below(rest, isPage) {
    const path = escaped(rest, PATH);
    return path + (isPage && !path.startsWith('.') ? '/' : '');
}

// The query, from its bytes in the request line.
function query(line) {
    const sent = escaped(line, QUERY);
    // Most parts are shorter than the name, and a pattern takes two microseconds.
    const key = new RegExp(`^${parameters.spellings('api_key')}(?:=|(?![\\s\\S]))`);
    const parts = sent.split('&').filter((part) => part.length < 7 || !key.test(part)).join('&');
    return parts ? `?${parts}` : '';
}

// Bytes as text, with percent escapes for all that the pattern does not allow. The pattern is applied to each kind of
// byte once.
function escaped(sent, allowed) {
    const text = bytes.text(sent);
    if (allowed.test(text)) {
        return text;
    }
    const forms = [];
    const letters = [];
    for (let i = 0; i < sent.length; i++) {
        const byte = sent[i];
        if (!forms[byte]) {
            const letter = String.fromCharCode(byte);
            forms[byte] = allowed.test(letter) ? letter : `%${`0${byte.toString(16).toUpperCase()}`.slice(-2)}`;
        }
        letters.push(forms[byte]);
    }
    return letters.join('');
}

export default { below, query };
