// The search of a list of series.
//
// A set of series has one bit for each series, 32 in a number. All of it reads the index, which is preloaded: njs finds
// an element of a preloaded array as slowly as ten steps of a loop, so sets are stored as texts.

import bytes from './bytes.js';

// Numbers that the index stores as text.
const numbers = bytes.numbers;
const TEXTS = ['title', 'author', 'artist'];
const NOTHING = { total: 0, positions: [] };

// The body of a filtered list, or null for a page that does not exist.
function listed(ask, index) {
    const start = (ask.page - 1) * ask.limit;
    const end = start + ask.limit;
    const result = page(ask, index, start, end);
    if (ask.page < 1 || (start >= result.total && ask.page > 1)) {
        return null;
    }
    const positions = result.positions;
    const all = index.items;
    const items = [];
    for (let i = 0; i < positions.length; i++) {
        items.push(all[positions[i]]);
    }
    return `{"total":${result.total},"last":${end >= result.total},"results":[${items.join(',')}]}`;
}

// The total of a list, and the positions of the series from number `start` to number `end`.
function page(ask, index, start, end) {
    const isSearched = ask.set || ask.slug || TEXTS.some((field) => ask[field]);
    return isSearched ? searched(ask, index, start, end) : selected(ask, index, start, end);
}

// The total of a list without texts, and the positions on its page. Each order has sets of its own, so that a page is
// a part of a set, and nothing is sorted.
function selected(ask, index, start, end) {
    const order = index.orders[`/${ask.sort}`];
    const series = order.series;
    const filters = byName(ask, index);
    if (!filters.any.length) {
        filters.any.push([index.everything]);
    }
    const lone = filters.any.length === 1 && filters.any[0].length === 1 && !filters.none.length;
    const set = passing(filters, order.sets, index);
    const places = members(set, start, end);
    return {
        total: lone ? index.counts[filters.any[0][0]] : size(set),
        positions: series ? places.map((place) => series[place]) : places,
    };
}

// The same of a list that is filtered by a slug or by texts, or with a set of series, by title, in place of other
// filters. The shortest list of candidates decides: the other texts and sets are read for its series only.
function searched(ask, index, start, end) {
    const texts = TEXTS.filter((field) => ask[field]);
    const found = texts.map((field) => containing(ask[field], index[field].parts, index));
    const only = ask.slug ? index.slug[`/${ask.slug}`] : undefined;
    if (found.includes(null) || (ask.slug && only === undefined)) {
        return NOTHING;
    }
    const set = ask.set || passing(byName(ask, index), index.orders['/title'].sets, index);
    if (!ask.slug && !texts.length) {
        return paged(set, ask.sort, index, start, end);
    }
    const few = ask.slug ? [only] : shortest(found, index);
    if (few) {
        const left = set ? few.filter((at) => set[at >> 5] >> at & 1) : few;
        return sorted(compared(left, texts, ask, index), ask.sort, index, start, end);
    }
    const all = found.reduce((left, text) => text.sets.reduce((both, other) => {
        const bits = asBits(other, index);
        return both ? both.map((word, i) => word & bits[i]) : bits;
    }, left), set);
    const loose = texts.filter((field, i) => !found[i].exact);
    if (loose.length) {
        return sorted(compared(members(all, 0, Infinity), loose, ask, index), ask.sort, index, start, end);
    }
    return paged(all, ask.sort, index, start, end);
}

// Sets by status and category: a series must be in one set of each list in `any`, and in no set in `none`.
function byName(ask, index) {
    const any = [];
    if (ask.status) {
        any.push(ids([ask.status], index.status));
    }
    if (ask.categories.any.length) {
        any.push(ids(ask.categories.any, index.categories));
    }
    return { any, none: ids(ask.categories.none, index.categories) };
}

// The different sets with these names.
function ids(names, table) {
    const different = [];
    names.forEach((name) => {
        const id = table[`/${name}`];
        if (id !== undefined && !different.includes(id)) {
            different.push(id);
        }
    });
    return different;
}

// The set of series that pass filters, or null without filters.
function passing(filters, sets, index) {
    let set = null;
    filters.any.forEach((choice) => {
        const bits = union(choice, sets, index);
        set = set ? set.map((word, i) => word & bits[i]) : bits;
    });
    if (filters.none.length) {
        const bits = union(filters.none, sets, index);
        set = (set || numbers(sets[index.everything])).map((word, i) => word & ~bits[i]);
    }
    return set;
}

function union(ids, sets, index) {
    if (!ids.length) {
        return new Int32Array(index.words);
    }
    return ids.map((id) => numbers(sets[id])).reduce((left, right) => left.map((word, i) => word | right[i]));
}

// A set of few series is stored as their positions.
function asBits(text, index) {
    const stored = numbers(text);
    if (stored.length === index.words) {
        return stored;
    }
    const set = new Int32Array(index.words);
    stored.forEach((at) => {
        set[at >> 5] |= 1 << at;
    });
    return set;
}

// The series whose names contain a text: each of `sets` has all of them, and others unless `exact`. `few` is the
// shortest set of a part of the text. Null if no name contains a part. No property of all objects has a name as short
// as a part that is folded to lower case.
function containing(text, parts, index) {
    const letters = bytes.characters(text);
    const length = letters.length;
    const part = (start, size) => index.lists[parts[letters.slice(start, start + size).join('')]];
    const whole = length > index.longest_part ? undefined : part(0, length);
    if (whole || length < 3) {
        return whole ? { few: whole, sets: [whole], exact: true } : null;
    }
    let few = part(0, 2);
    for (let i = 1; few && i < length - 1; i++) {
        const pair = index.lists[parts[letters[i] + letters[i + 1]]];
        few = pair && few.length < pair.length ? few : pair;
    }
    if (!few) {
        return null;
    }
    const sets = [longest(index, (size) => part(0, size)), longest(index, (size) => part(length - size, size))];
    if (length > 4) {
        sets.push(part(length >> 1, 2));
    }
    return { few, sets, exact: false };
}

function longest(index, part) {
    for (let size = index.longest_part; size > 2; size -= 1) {
        const found = part(size);
        if (found) {
            return found;
        }
    }
    return part(2);
}

// The positions of the shortest set, if it is stored as positions.
function shortest(found, index) {
    const text = found.reduce((few, other) => (other.few.length < few.length ? other.few : few), found[0].few);
    const positions = numbers(text);
    return positions.length < index.words ? positions : null;
}

// Positions of series whose names contain the texts of these fields.
function compared(positions, fields, ask, index) {
    return fields.reduce((some, field) => {
        const text = ask[field];
        const names = index[field].names;
        const left = [];
        for (let i = 0; i < some.length; i++) {
            const at = some[i];
            if (names[at].includes(text)) {
                left.push(at);
            }
        }
        return left;
    }, positions);
}

// An order of `/api/v2` or of Komga's API.
function orderOf(sort, index) {
    return index.orders[`/${sort}`] || index.komga.orders[`/${sort}`];
}

// A page of a set. A large set is not sorted: the order is read until the page is full.
function paged(set, sort, index, start, end) {
    const total = size(set);
    if (start >= total) {
        return { total, positions: [] };
    }
    if (sort === 'title') {
        return { total, positions: members(set, start, end) };
    }
    const series = orderOf(sort, index).series;
    if (total * total < end * series.length) {
        return sorted(members(set, 0, total), sort, index, start, end);
    }
    const positions = [];
    for (let i = 0, before = 0; before < end && i < series.length; i++) {
        const at = series[i];
        if (set[at >> 5] >> at & 1) {
            if (before >= start) {
                positions.push(at);
            }
            before++;
        }
    }
    return { total, positions };
}

// A page of series that are given by position, which is their order by title.
function sorted(positions, sort, index, start, end) {
    const total = positions.length;
    if (sort === 'title') {
        return { total, positions: positions.slice(start, end) };
    }
    const order = orderOf(sort, index);
    const series = order.series;
    const ranks = numbers(order.ranks);
    const places = new Int32Array(total);
    for (let i = 0; i < total; i++) {
        places[i] = ranks[positions[i]];
    }
    return { total, positions: places.sort().slice(start, end).map((place) => series[place]) };
}

// The members of a set from number `start` to number `end`.
function members(set, start, end) {
    const places = [];
    const clz32 = Math.clz32;
    const first = start ? upTo(set, start) : { word: 0, before: 0 };
    let before = first.before;
    for (let i = first.word; before < end && i < set.length; i++) {
        const last = (i << 5) + 31;
        for (let word = set[i]; word && before < end; word &= word - 1) {
            if (before >= start) {
                places.push(last - clz32(word & -word));
            }
            before++;
        }
    }
    return places;
}

function size(set) {
    return upTo(set, Infinity).before;
}

// The word with the member number `start`, and the number of members before this word. Bits are counted in pairs, in
// fours and in bytes: a loop over them would take ten times as long.
function upTo(set, start) {
    let before = 0;
    for (let i = 0; i < set.length; i++) {
        let word = set[i];
        word -= word >>> 1 & 0x55555555;
        word = (word & 0x33333333) + (word >>> 2 & 0x33333333);
        word = word + (word >>> 4) & 0x0f0f0f0f;
        word += word >>> 8;
        word = word + (word >>> 16) & 63;
        if (before + word > start) {
            return { word: i, before };
        }
        before += word;
    }
    return { word: set.length, before };
}

export default { listed, page, asBits };
