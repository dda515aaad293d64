// Calls of apps without a body of their own, which a server answers from the body or the gate of another URL.

import bytes from './bytes.js';

// The patterns of `generator/nginx/templates/apps.conf`, as literals: njs makes those of a text again for each request.
const STREAM = /^\/opds\/v1\.2\/pages\/([1-9][0-9]{0,9})\/(0|[1-9][0-9]{0,8})(?![\s\S])/;
const IMAGE = /^\/komga\/api\/v1\/books\/([1-9][0-9]{0,9})\/(?:pages\/([1-9][0-9]{0,8})|thumbnail)(?![\s\S])/;
const IMAGES = /^\/komga\/api\/v1\/books\/([1-9][0-9]{0,9})\/pages(?![\s\S])/;
const READ = /^\/komga\/book\/([1-9][0-9]{0,9})(?![\s\S])/;
// The last segment of the path of a URL. In njs, `split` with a pattern takes 0.6 ms for each image.
const FILE = /\/([^/?#]*)(?:[?#]|(?![\s\S]))/;
const IN_COLLECTION = /^\/komga\/api\/v1\/collections\/[^/]+\/series(?![\s\S])/;
// By the suffix of a name, which may be that of a property that every object has.
const MEDIA_TYPES = { '.avif': 'avif', '.gif': 'gif', '.jpeg': 'jpeg', '.jpg': 'jpeg', '.png': 'png', '.webp': 'webp' };

// What a path calls, or null: the key of the other URL, and
//   image   302 to the image with this index
//   images  the list of images
//   read    302 to the page of the chapter
function called(path, apps) {
    const image = path.startsWith('/opds/') && apps.includes('opds') ? STREAM.exec(path) : null;
    if (image) {
        return { kind: 'image', key: pages(image[1]), index: Number(image[2]) };
    }
    return path.startsWith('/komga/') && apps.includes('komga') ? ofBook(path) : null;
}

function ofBook(path) {
    const image = IMAGE.exec(path);
    if (image) {
        return { kind: 'image', key: pages(image[1]), index: Number(image[2] || 1) - 1 };
    }
    const images = IMAGES.exec(path);
    if (images) {
        return { kind: 'images', key: pages(images[1]), index: 0 };
    }
    const read = READ.exec(path);
    return read ? { kind: 'read', key: `/api/v2/chapters/${read[1]}/read`, index: 0 } : null;
}

// The key of a path that is no call. There are no collections, so each one is empty.
function uncalled(path, apps) {
    return apps.includes('komga') && IN_COLLECTION.test(path) ? '/komga/api/v1/collections' : path;
}

function pages(chapter) {
    return `/api/v2/chapters/${chapter}/pages`;
}

// The URL of an image in the pages of a chapter, or an empty text.
function image(body, index) {
    const page = JSON.parse(body).results[index];
    return page ? page.image : '';
}

// The pages of a chapter as Komga lists them.
function images(body) {
    return JSON.stringify(JSON.parse(body).results.map((page) => {
        const name = FILE.exec(page.image)[1];
        const type = MEDIA_TYPES[`.${name.split('.').pop().toLowerCase()}`];
        return {
            number: page.number,
            fileName: bytes.unescaped(name),
            mediaType: type ? `image/${type}` : 'application/octet-stream',
            width: null,
            height: null,
        };
    }));
}

export default { called, uncalled, image, images };
