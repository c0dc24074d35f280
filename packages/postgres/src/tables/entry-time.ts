import type { Row } from "../connection/connections.js";

/** The time of an entry as its eight bytes: as text it would be rounded where `extra_float_digits` is 0. */
export const ENTRY_TIME = "float8send(at) as at";

/** A row of {@link ENTRY_TIME} with the time as a number. */
export function withTime(row: Row): Row {
  const { buffer, byteOffset } = row.at as Uint8Array;
  return { ...row, at: new DataView(buffer).getFloat64(byteOffset) };
}
