// A video file: encoded frames in WebM (Matroska's EBML elements: identifier, size, content).
// Index of the key frames first, so that one can go anywhere in it at once; a cluster begins at
// every key frame.

const text = new TextEncoder();

/** The bytes of a number, the highest first. */
function bytes(value, length) {
    const out = new Uint8Array(length);
    for (let i = length - 1; i >= 0; i--) {
        out[i] = value % 256;
        value = Math.floor(value / 256);
    }
    return out;
}

function identifier(id) {
    return bytes(id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1);
}

/** An element; content: parts, or a number of 8 bytes, or text. */
function element(id, content) {
    const parts = typeof content === 'string' ? [text.encode(content)]
        : typeof content === 'number' ? [bytes(content, 8)]
        : content;
    const size = bytes(sizeOf(parts), 8);
    size[0] = 1; // says that the size takes eight bytes
    return [identifier(id), size, ...parts];
}

const sizeOf = (parts) => parts.reduce((sum, p) => sum + p.byteLength, 0);

function real(value) {
    const out = new DataView(new ArrayBuffer(8));
    out.setFloat64(0, value);
    return [new Uint8Array(out.buffer)];
}

/**
 * frames: [{time in ms, key, data}], the first a key frame; codec: Matroska's name for it.
 * duration in ms. Returns the file as a Blob.
 */
export function webm(frames, { codec, width, height, duration }) {
    const head = element(0x1a45dfa3, [
        ...element(0x4286, 1), ...element(0x42f7, 1), ...element(0x42f2, 4),
        ...element(0x42f3, 8), ...element(0x4282, 'webm'), ...element(0x4287, 4),
        ...element(0x4285, 2)]);
    const info = element(0x1549a966, [
        ...element(0x2ad7b1, 1000000), // times are in ms
        ...element(0x4489, real(duration)), ...element(0x4d80, 'noslip'),
        ...element(0x5741, 'noslip')]);
    const tracks = element(0x1654ae6b, element(0xae, [
        ...element(0xd7, 1), ...element(0x73c5, 1), ...element(0x9c, 0), ...element(0x83, 1),
        ...element(0x86, codec),
        ...element(0xe0, [...element(0xb0, width), ...element(0xba, height)])]));
    const groups = [];
    for (const f of frames) {
        if (f.key) groups.push([]);
        groups[groups.length - 1].push(f);
    }
    const clusters = groups.map((group) => element(0x1f43b675, [
        ...element(0xe7, group[0].time),
        ...group.flatMap((f) => element(0xa3, [
            new Uint8Array([0x81]), bytes(f.time - group[0].time, 2),
            new Uint8Array([f.key ? 0x80 : 0]), f.data]))]));
    const index = (places) => element(0x1c53bb6b, groups.flatMap((group, i) =>
        element(0xbb, [...element(0xb3, group[0].time),
            ...element(0xb7, [...element(0xf7, 1), ...element(0xf1, places[i])])])));
    // all numbers take eight bytes: the index is as long with any places in it
    let place = sizeOf([...info, ...tracks, ...index(groups.map(() => 0))]);
    const places = clusters.map((c) => {
        const at = place;
        place += sizeOf(c);
        return at;
    });
    return new Blob([...head, ...element(0x18538067,
        [...info, ...tracks, ...index(places), ...clusters.flat()])], { type: 'video/webm' });
}
