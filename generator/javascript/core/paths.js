// The path and the query of a request target, as nginx reads them: escapes decoded, slashes merged, dot segments removed.

import bytes from './bytes.js';

const ORIGIN = /^[A-Za-z][-+.A-Za-z0-9]*:\/\/[^/?#]*/;
const CONTROLS = /[\x00-\x20\x7f]/;
const SLASH = 47;
const DOT = 46;
const PERCENT = 37;

// The parts of a target, or null for one that nginx refuses with 400.
//   path      the path, decoded; without its last slash unless it is the root
//   hasSlash  whether it had one
//   sent      the bytes of the path, if they differ from those in the request line; else null
//   query     the query as it was sent
//   isHidden  whether the path has an escape that belongs to no resource: %2F would give each a second URL, and %00 is
//             part of no path
function parsed(target) {
    const local = target.replace(ORIGIN, '');
    const sent = local.charAt(0) === '/' || local === target ? local : `/${local}`;
    if (sent.charAt(0) !== '/' || CONTROLS.test(sent)) {
        return null;
    }
    const fragment = sent.indexOf('#');
    const whole = fragment < 0 ? sent : sent.slice(0, fragment);
    const mark = whole.indexOf('?');
    const written = mark < 0 ? whole : whole.slice(0, mark);
    const letters = isPlain(written) ? null : normalised(bytes.encoded(written));
    if (letters && !letters.length) {
        return null;
    }
    const path = letters ? bytes.text(new Uint8Array(letters)) : written;
    const hasSlash = path.endsWith('/');
    const isCut = hasSlash && path.length > 1;
    return {
        path: isCut ? path.slice(0, -1) : path,
        hasSlash,
        sent: letters && isCut ? letters.slice(0, -1) : letters,
        query: mark < 0 ? '' : whole.slice(mark + 1),
        isHidden: /%(?:2f|00)/i.test(sent.split('?', 1)[0]),
    };
}

// Whether a path is spelled as it is read.
function isPlain(path) {
    return !path.includes('%') && !path.includes('//') && !path.includes('/.');
}

// The bytes of a path; none for an invalid escape and for a path that leaves the root.
function normalised(written) {
    const out = [];
    for (let i = 0; i <= written.length; i++) {
        let byte = written[i];
        if (byte === PERCENT) {
            byte = escape(written[i + 1], written[i + 2]);
            i += 2;
            if (!byte) {
                return [];
            }
        }
        const isEnd = i === written.length;
        if (!isEnd && byte !== SLASH) {
            out.push(byte);
        } else if (!closed(out)) {
            return [];
        } else if (!isEnd && out[out.length - 1] !== SLASH) {
            out.push(SLASH);
        }
    }
    return out;
}

// The byte of two hexadecimal digits, or 0 for other letters and for %00.
function escape(first, second) {
    const digits = second === undefined ? '' : String.fromCharCode(first, second);
    return /^[0-9a-fA-F]{2}(?![\s\S])/.test(digits) ? parseInt(digits, 16) : 0;
}

// Remove a last segment of one or two dots, and with two dots the segment before it. False if there is none.
function closed(out) {
    const dots = trailingDots(out);
    out.length -= dots;
    if (dots < 2) {
        return true;
    }
    if (out.length < 2) {
        return false;
    }
    do {
        out.length -= 1;
    } while (out[out.length - 1] !== SLASH);
    return true;
}

// One or two if the last segment is nothing else than dots, else 0.
function trailingDots(out) {
    const last = out.length - 1;
    if (out[last] !== DOT) {
        return 0;
    }
    if (out[last - 1] === SLASH) {
        return 1;
    }
    return out[last - 1] === DOT && out[last - 2] === SLASH ? 2 : 0;
}

export default { parsed };
