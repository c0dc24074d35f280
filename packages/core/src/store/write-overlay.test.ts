import { describe, expect, it } from "vitest";
import type { LedgerEntry, Reduce, StateRef } from "./store.js";
import { type OnStates, takenBy, WriteOverlay } from "./write-overlay.js";

const entry = (key: string, byte = 1): LedgerEntry => ({ key, type: "note", at: 1, payload: Uint8Array.of(byte) });
const ref: StateRef = { scope: "s", id: "log" };
const nothing = (): undefined => undefined;

/** Appends the entry's payload to one state. */
const append: Reduce = function* ({ payload }) {
  const [before] = yield [ref];
  return [{ ...ref, value: Uint8Array.of(...(before ?? []), ...payload) }];
};

/** Drives a commit over a backend that holds `bytes` for every state, and notes what it was asked for. */
function drive(commit: OnStates<unknown>, asked: StateRef[] = [], bytes?: Uint8Array): unknown {
  let step = commit.next();
  while (!step.done) {
    asked.push(...step.value);
    step = commit.next(step.value.map(() => bytes));
  }
  return step.value;
}

describe("WriteOverlay", () => {
  it("asks the backend for a state once, and lets later entries see what earlier ones wrote", () => {
    const overlay = new WriteOverlay(4);
    const asked: StateRef[] = [];
    const receipts = drive(overlay.commit([entry("a", 1), entry("b", 2)], append, nothing), asked, Uint8Array.of(9));
    expect(receipts).toEqual([
      { status: "committed", seq: 5 },
      { status: "committed", seq: 6 },
    ]);
    drive(overlay.commit([entry("c", 3)], append, nothing), asked, Uint8Array.of(9));
    expect(asked).toEqual([ref]);
    expect([...overlay.states.writes()]).toEqual([{ ...ref, value: Uint8Array.of(9, 1, 2, 3) }]);
    expect([overlay.head, overlay.entries.map(({ key }) => key)]).toEqual([7, ["a", "b", "c"]]);
  });

  it("finds a key in the same commit, in an earlier one and in the backend", () => {
    const overlay = new WriteOverlay(4);
    drive(overlay.commit([entry("a")], append, nothing));
    const known = (key: string) => (key === "old" ? takenBy({ ...entry("old"), seq: 2 }) : undefined);
    const again = [entry("a"), entry("a", 2), entry("old"), entry("old", 2), entry("new"), entry("new")];
    expect(drive(overlay.commit(again, append, known))).toEqual([
      { status: "duplicate", seq: 5 },
      { status: "conflict", seq: 5 },
      { status: "duplicate", seq: 2 },
      { status: "conflict", seq: 2 },
      { status: "committed", seq: 6 },
      { status: "duplicate", seq: 6 },
    ]);
  });

  it("keeps nothing of a commit of which one reduction throws", () => {
    const overlay = new WriteOverlay(0);
    drive(overlay.commit([entry("a", 1)], append, nothing));
    const failing: Reduce = function* (sequenced) {
      if (sequenced.key === "c") throw new Error("no");
      return yield* append(sequenced);
    };
    expect(() => drive(overlay.commit([entry("b", 2), entry("c", 3)], failing, nothing))).toThrow("no");
    expect([overlay.head, overlay.entries.length]).toEqual([1, 1]);
    expect([...overlay.states.writes()]).toEqual([{ ...ref, value: Uint8Array.of(1) }]);
    expect(drive(overlay.commit([entry("b", 2)], append, nothing))).toEqual([{ status: "committed", seq: 2 }]);
  });
});
