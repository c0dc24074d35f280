import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type EntryColumns, ledgerDigests } from "./ledger-digests.js";
import { nameToBytes } from "./validate.js";

const digests = ledgerDigests((bytes) => createHash("sha256").update(bytes).digest());
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const columns = { seq: 1, key: nameToBytes("k"), type: nameToBytes("tally"), at: 5, payload: Uint8Array.of(7) };

/** SHA-256 over what the formula names, cut to its first half. */
function expected(before: Uint8Array, { seq, key, type, at, payload }: EntryColumns): string {
  const numbers = Buffer.alloc(24);
  numbers.writeDoubleLE(seq, 0);
  numbers.writeDoubleLE(at, 8);
  numbers.writeUInt32LE(key.length, 16);
  numbers.writeUInt32LE(type.length, 20);
  const bytes = Buffer.concat([before, numbers, key, type, payload]);
  return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
}

describe("digests of a ledger", () => {
  it("are the first halves of SHA-256 over what the formula names", () => {
    expect(hex(digests.first("n"))).toBe(createHash("sha256").update("qavrn").digest("hex").slice(0, 32));
    const first = digests.first("n");
    expect(hex(digests.entry(first, columns))).toBe(expected(first, columns));
  });

  it("never change: ledgers of every version must verify", () => {
    const entry = digests.entry(digests.first("n"), columns);
    const state = { scope: nameToBytes("s"), id: nameToBytes("m"), value: Uint8Array.of(1) };
    const dropped = { seq: 1, key: columns.key, payloadDigest: digests.of(columns.payload) };
    expect(
      [entry, digests.dropped("n", dropped), digests.kept("n", state), digests.all([entry, digests.first("m")])].map(
        hex,
      ),
    ).toMatchInlineSnapshot(`
      [
        "c71534ec3722cd0cad4bc09d6a71d198",
        "669a5aba655d1b5d74eda13f4a26012d",
        "fdae208aabef38e76b1debf4632b70e7",
        "8bc1399a450bea89480811df2560937b",
      ]
    `);
  });

  it("are the same for one entry after another, short or long", () => {
    const first = digests.first("n");
    const long = { ...columns, payload: new Uint8Array(100_000).fill(3) };
    for (const entry of [columns, long, columns, long]) {
      expect(hex(digests.entry(first, entry))).toBe(expected(first, entry));
    }
  });

  it("tell a key from a type, which are of one text with different borders", () => {
    const before = digests.first("n");
    const one = { ...columns, key: nameToBytes("ab"), type: nameToBytes("c") };
    const other = { ...columns, key: nameToBytes("a"), type: nameToBytes("bc") };
    expect(hex(digests.entry(before, one))).not.toBe(hex(digests.entry(before, other)));
  });
});
