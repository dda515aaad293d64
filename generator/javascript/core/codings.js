// Whether a client accepts gzip, as generator/nginx/templates/coding.conf decides.

const REFUSED = /(?:^|,)\s*(?:x-)?gzip\s*;\s*q\s*=\s*0(?:\.0{0,3})?\s*(?:,|$)/i;
const ACCEPTED = /(?:^|,)\s*(?:x-)?gzip\s*(?:[;,]|$)/i;
const NONE = /(?:^|,)\s*\*\s*;\s*q\s*=\s*0(?:\.0{0,3})?\s*(?:,|$)/;
const ANY = /(?:^|,)\s*\*\s*(?:[;,]|$)/;

function acceptsGzip(accepted) {
    if (accepted === 'gzip') {
        return true;
    }
    if (REFUSED.test(accepted)) {
        return false;
    }
    return ACCEPTED.test(accepted) || (!NONE.test(accepted) && ANY.test(accepted));
}

export default { acceptsGzip };
