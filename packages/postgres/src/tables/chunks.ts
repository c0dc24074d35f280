/** Largest size of one statement: bytes of values, and rows. In its text a byte takes two characters. */
const CHUNK_BYTES = 8 * 1024 * 1024;
const CHUNK_ROWS = 2_000;

/** Splits rows into pieces for one statement each, in order. A single row may be larger than a piece. */
export function* chunks<Row>(rows: readonly Row[], bytesOf: (row: Row) => number): Iterable<readonly Row[]> {
  let start = 0;
  let bytes = 0;
  for (const [place, row] of rows.entries()) {
    const size = bytesOf(row);
    if (place > start && (bytes + size > CHUNK_BYTES || place - start === CHUNK_ROWS)) {
      yield rows.slice(start, place);
      start = place;
      bytes = 0;
    }
    bytes += size;
  }
  if (start < rows.length) yield rows.slice(start);
}
