// What each engine has functions of its own for, with those of njs. A release has this module in place of core/bytes.js.

import querystring from 'querystring';

// Percent escapes as UTF-8. Invalid escapes stay, invalid UTF-8 becomes U+FFFD.
function unescaped(text) {
    return querystring.unescape(text);
}

// The text of bytes. Invalid UTF-8 becomes U+FFFD.
function text(bytes) {
    return bytes.toString();
}

// Numbers of 32 bits, of which base64 has the bytes, the lowest first. Other texts may share the buffer.
function numbers(base64) {
    const bytes = Buffer.from(base64, 'base64');
    return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

// The characters of a text.
function characters(sent) {
    return sent.split('');
}

export default { unescaped, text, numbers, characters };
