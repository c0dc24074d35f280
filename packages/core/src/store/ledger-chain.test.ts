import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { QavrError } from "../errors/qavr-error.js";
import {
  type ChainedEntry,
  chainedEntries,
  chainOn,
  checkpointStates,
  type LedgerEnds,
  NamespaceCheck,
} from "./ledger-chain.js";
import { ledgerDigests, NO_DIGESTS, withDigest } from "./ledger-digests.js";
import type { SequencedEntry } from "./store.js";
import { nameToBytes } from "./validate.js";

const digests = ledgerDigests((bytes) => createHash("sha256").update(bytes).digest());
const entries = Array.from(
  { length: 5 },
  (_, i): SequencedEntry => ({ seq: i + 1, key: `k${i}`, type: "tally", at: i, payload: Uint8Array.of(i) }),
);
const first = digests.first("n");
const rows = chainOn(first, entries, digests);
const last = rows[4] as ChainedEntry;
const nothing = new Uint8Array();
const whole: LedgerEnds = {
  namespace: "n",
  head: 5,
  digest: last.digest,
  base: 0,
  baseDigest: first,
  checkpointDigest: nothing,
};

function problemOf(some: readonly ChainedEntry[], ends: Partial<LedgerEnds> = {}): unknown {
  const check = new NamespaceCheck({ ...whole, ...ends }, digests);
  for (const row of some) if (!check.entry(row)) break;
  const [damage] = check.chain();
  return damage && [damage.seq, damage.problem];
}

describe("a chain of entries", () => {
  it("fits from its first digest to its last, and from any entry on", () => {
    expect(problemOf(rows)).toBeUndefined();
    expect(problemOf(rows.slice(2), { base: 2, baseDigest: rows[1]?.digest as Uint8Array })).toBeUndefined();
  });

  it.each<[string, readonly ChainedEntry[], Partial<LedgerEnds>, number, RegExp]>([
    ["an entry that is gone", rows.toSpliced(2, 1), {}, 3, /place 4/],
    ["an entry twice", rows.toSpliced(2, 0, rows[1] as ChainedEntry), {}, 3, /place 2/],
    ["another payload", rows.with(1, { ...rows[1], payload: Uint8Array.of(9) } as ChainedEntry), {}, 2, /digest/],
    ["no last entry", rows.slice(0, 4), {}, 5, /before its head/],
    ["a last entry of another ledger", rows, { digest: first }, 6, /not the one/],
    ["the ledger of another name", rows, { namespace: "m" }, 1, /first digest/],
    ["another base", rows.slice(2), { base: 2, baseDigest: first }, 3, /digest/],
  ])("does not fit with %s", (_what, some, ends, seq, problem) => {
    expect(problemOf(some, ends)).toEqual([seq, expect.stringMatching(problem)]);
  });

  it("counts the entries before the place where it breaks", () => {
    const check = new NamespaceCheck(whole, digests);
    for (const row of rows.toSpliced(3, 1)) check.entry(row);
    expect(check.entries).toBe(3);
  });
});

describe("entries for readers", () => {
  const corrupt = (seq: number): QavrError => new QavrError("STORE_CORRUPT", "damaged", { details: { seq } });

  it("are given as they were written", () => {
    expect(chainedEntries(rows, { seq: 0, digest: first }, 5, digests, corrupt)).toEqual(entries);
    expect(chainedEntries(rows.slice(3), rows[2] as ChainedEntry, 5, digests, corrupt)).toEqual(entries.slice(3));
  });

  it("are refused from the first one on that does not follow", () => {
    const damaged = rows.with(3, { ...rows[3], at: 9 } as ChainedEntry);
    expect(() => chainedEntries(damaged, { seq: 0, digest: first }, 5, digests, corrupt)).toThrow(
      expect.objectContaining({ code: "STORE_CORRUPT", details: { seq: 4 } }),
    );
    expect(() => chainedEntries(rows.slice(1), { seq: 0, digest: first }, 5, digests, corrupt)).toThrow();
  });

  it.each([0, 1, 4])("are refused when they end after %i of those that there must be", (left) => {
    expect(() => chainedEntries(rows.slice(0, left), { seq: 0, digest: first }, 5, digests, corrupt)).toThrow(
      expect.objectContaining({ code: "STORE_CORRUPT", details: { seq: left + 1 } }),
    );
  });
});

describe("a checkpoint", () => {
  const states = ["a", "b"].map((id, i) => ({
    scope: nameToBytes("s"),
    id: nameToBytes(id),
    value: Uint8Array.of(i),
  }));
  const baseDigest = rows[1]?.digest as Uint8Array;
  const ends: LedgerEnds = {
    ...whole,
    base: 2,
    baseDigest,
    checkpointDigest: states.reduce((sum, state) => withDigest(sum, digests.kept("n", state)), NO_DIGESTS),
  };
  const keys = rows.slice(0, 2).map(({ seq, key, payload }) => {
    const row = { seq, key, payloadDigest: digests.of(payload) };
    return { ...row, digest: digests.dropped("n", row) };
  });
  const problems = (some: typeof keys, from: typeof states): unknown => {
    const check = new NamespaceCheck(ends, digests);
    for (const row of some) check.key(row);
    return check.checkpoint(checkpointStates(from, ends, digests)).map(({ problem }) => problem);
  };

  it("gives its states back, in any order", () => {
    expect(checkpointStates(states, ends, digests)?.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(checkpointStates(states.toReversed(), ends, digests)?.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(checkpointStates(states, { ...ends, namespace: "m" }, digests)).toBeUndefined();
    expect(checkpointStates([], whole, digests)).toEqual([]);
  });

  it("names a damaged state, a damaged key and a missing key", () => {
    expect(problems(keys, states)).toEqual([]);
    expect(problems(keys, states.slice(1))).toEqual(["the states of the checkpoint do not fit their digest"]);
    expect(problems(keys.slice(1), states)).toEqual(["1 keys of compacted entries are missing"]);
    const damaged = keys.with(0, { ...(keys[0] as (typeof keys)[0]), seq: 7 });
    expect(problems(damaged, states)).toEqual(["the key of a compacted entry is damaged"]);
  });
});
