import { describe, expect, it } from "vitest";
import { type DraftedCommit, NamespaceDraft } from "./namespace-draft.js";
import type { LedgerEntry, Reduce, StateRef } from "./store.js";

const entry = (key: string, byte = 1): LedgerEntry => ({ key, type: "note", at: 1, payload: Uint8Array.of(byte) });
const ref: StateRef = { scope: "s", id: "log" };
const nothing = (): undefined => undefined;

/** Appends the entry's payload to one state. */
const append: Reduce = function* ({ payload }) {
  const [before] = yield [ref];
  return [{ ...ref, value: Uint8Array.of(...(before ?? []), ...payload) }];
};

/** Drives a commit over a backend that holds `bytes` for every state, and notes what it was asked for. */
function drive(commit: DraftedCommit, asked: StateRef[] = [], bytes?: Uint8Array): unknown {
  let step = commit.next();
  while (!step.done) {
    asked.push(...step.value);
    step = commit.next(step.value.map(() => bytes));
  }
  return step.value;
}

describe("NamespaceDraft", () => {
  it("asks the backend for a state once, and lets later entries see what earlier ones wrote", () => {
    const draft = new NamespaceDraft(4);
    const asked: StateRef[] = [];
    const receipts = drive(draft.add([entry("a", 1), entry("b", 2)], append, nothing), asked, Uint8Array.of(9));
    expect(receipts).toEqual([
      { status: "committed", seq: 5 },
      { status: "committed", seq: 6 },
    ]);
    drive(draft.add([entry("c", 3)], append, nothing), asked, Uint8Array.of(9));
    expect(asked).toEqual([ref]);
    expect([...draft.states.writes()]).toEqual([{ ...ref, value: Uint8Array.of(9, 1, 2, 3) }]);
    expect([draft.head, draft.entries.map(({ key }) => key)]).toEqual([7, ["a", "b", "c"]]);
  });

  it("finds a key in the same commit, in an earlier one and in the backend", () => {
    const draft = new NamespaceDraft(4);
    drive(draft.add([entry("a")], append, nothing));
    const known = (key: string) => (key === "old" ? { seq: 2, payload: Uint8Array.of(1) } : undefined);
    const again = [entry("a"), entry("a", 2), entry("old"), entry("old", 2), entry("new"), entry("new")];
    expect(drive(draft.add(again, append, known))).toEqual([
      { status: "duplicate", seq: 5 },
      { status: "conflict", seq: 5 },
      { status: "duplicate", seq: 2 },
      { status: "conflict", seq: 2 },
      { status: "committed", seq: 6 },
      { status: "duplicate", seq: 6 },
    ]);
  });

  it("keeps nothing of a commit of which one reduction throws", () => {
    const draft = new NamespaceDraft(0);
    drive(draft.add([entry("a", 1)], append, nothing));
    const failing: Reduce = function* (sequenced) {
      if (sequenced.key === "c") throw new Error("no");
      return yield* append(sequenced);
    };
    expect(() => drive(draft.add([entry("b", 2), entry("c", 3)], failing, nothing))).toThrow("no");
    expect([draft.head, draft.entries.length]).toEqual([1, 1]);
    expect([...draft.states.writes()]).toEqual([{ ...ref, value: Uint8Array.of(1) }]);
    expect(drive(draft.add([entry("b", 2)], append, nothing))).toEqual([{ status: "committed", seq: 2 }]);
  });
});
