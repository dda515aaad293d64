// What each engine has functions of its own for, with those of browsers. njs lacks some of them, and its own ones are
// faster: a release for nginx has nginx/bytes.js in place of this module.

// A mark at the beginning is a part of a text, as in njs.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

// Percent escapes as UTF-8. Invalid escapes stay, invalid UTF-8 becomes U+FFFD.
function unescaped(sent) {
    const bytes = encoder.encode(sent);
    let length = 0;
    for (let i = 0; i < bytes.length; i++, length++) {
        const escape = bytes[i] === 37 ? sixteens(bytes[i + 1]) * 16 + sixteens(bytes[i + 2]) : NaN;
        bytes[length] = escape >= 0 ? escape : bytes[i];
        i += escape >= 0 ? 2 : 0;
    }
    return text(bytes.subarray(0, length));
}

// The value of a hexadecimal digit, or NaN.
function sixteens(byte) {
    return byte === undefined ? NaN : parseInt(String.fromCharCode(byte), 16);
}

// The text of bytes. Invalid UTF-8 becomes U+FFFD.
function text(bytes) {
    return decoder.decode(bytes);
}

// Numbers of 32 bits, of which base64 has the bytes, the lowest first.
function numbers(base64) {
    const letters = atob(base64);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) {
        bytes[i] = letters.charCodeAt(i);
    }
    return new Int32Array(bytes.buffer);
}

// The bytes of a text as UTF-8.
function encoded(sent) {
    return encoder.encode(sent);
}

// The characters of a text: engines count two for one beyond U+FFFF, but the build and njs count one.
function characters(sent) {
    return Array.from(sent);
}

export default { unescaped, text, numbers, encoded, characters };
