/** Header length (uint32 LE) · header (JSON) · padding to a multiple of 8 · columns, each padded to a multiple of 8. */
export function pack(header: unknown, columns: readonly NodeJS.TypedArray[]): Uint8Array {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  const parts: Uint8Array[] = [length, json, padding(4 + json.length)];
  for (const column of columns) {
    parts.push(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), padding(column.byteLength));
  }
  return Buffer.concat(parts);
}

/** Reads columns one after the other, as views of the bytes. */
export interface Unpacked<Header> {
  readonly header: Header;
  floats(count: number): Float32Array<ArrayBuffer>;
  shorts(count: number): Uint16Array<ArrayBuffer>;
}

/** @param bytes begin at a multiple of 8 in their buffer */
export function unpack<Header>(bytes: Uint8Array): Unpacked<Header> {
  const { buffer, byteOffset, byteLength } = bytes as Uint8Array<ArrayBuffer>;
  const end = 4 + new DataView(buffer, byteOffset, byteLength).getUint32(0, true);
  const header = JSON.parse(Buffer.from(buffer, byteOffset + 4, end - 4).toString("utf8")) as Header;
  let next = byteOffset + end + missing(end);
  const take = (size: number): number => {
    const start = next;
    next += size + missing(size);
    return start;
  };
  return {
    header,
    floats: (count) => new Float32Array(buffer, take(count * 4), count),
    shorts: (count) => new Uint16Array(buffer, take(count * 2), count),
  };
}

function missing(length: number): number {
  return (8 - (length % 8)) % 8;
}

function padding(length: number): Uint8Array {
  return new Uint8Array(missing(length));
}
