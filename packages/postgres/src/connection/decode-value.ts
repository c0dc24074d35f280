/** Type OIDs of PostgreSQL. https://www.postgresql.org/docs/current/catalog-pg-type.html */
const BYTEA = 17;
const NUMBERS = new Set([20, 21, 23, 701]); // int8, int2, int4, float8

/**
 * Parsers of values: bytes as `Uint8Array`, numbers as numbers, the rest as text. The store's numbers are counts, times and revisions,
 * all below 2^53. Passed with each query, because a pool may have parsers of its own.
 */
export const decoding: { getTypeParser(oid: number): (text: string) => unknown } = {
  getTypeParser: (oid) => (oid === BYTEA ? bytes : NUMBERS.has(oid) ? Number : text),
};

const text = (value: string): string => value;

/** Decodes into an array of its own: a cached Buffer would keep a shared slab of memory alive. */
function bytes(value: string): Uint8Array {
  if (!value.startsWith("\\x")) return escaped(value);
  const decoded = new Uint8Array((value.length - 2) >> 1);
  Buffer.from(decoded.buffer).write(value.slice(2), "hex");
  return decoded;
}

/** Decodes bytea of servers with `bytea_output = escape`. */
function escaped(value: string): Uint8Array {
  const latin1 = value.replace(/\\(\\|[0-7]{3})/g, (_, code: string) =>
    code === "\\" ? code : String.fromCharCode(Number.parseInt(code, 8)),
  );
  return new Uint8Array(Buffer.from(latin1, "latin1"));
}
