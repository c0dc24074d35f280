import { describe, expect, it } from "vitest";
import { type Asked, KnownStates } from "./known-states.js";

const ref = (id: string) => ({ scope: "s", id });
const value = Uint8Array.of(1);
/** A moment of a history, by default the first one. */
const at = (revision: number, history = 0) => ({ revision, digest: Uint8Array.of(revision, history) });
/** By default answered at once. */
const asked = (askedAt: number, answeredAt = askedAt) => ({ askedAt, answeredAt });
const commit = (before: number, after: number, when: Asked, ids = ["a"]) => ({
  before: at(before),
  after: { ...at(after), head: after, base: 0 },
  ...when,
  undisturbed: true,
  states: ids.map((id) => ({ ...ref(id), value })),
});

function known(): KnownStates {
  const states = new KnownStates(100_000);
  states.observe("n", at(5), asked(1));
  states.cache.write("n", "s", "a", value);
  states.cache.write("n", "s", "b", value);
  return states;
}
const cached = (states: KnownStates): string[] =>
  ["a", "b", "c"].filter((id) => states.cache.read("n", "s", [id], []).length === 0);
const written = (states: KnownStates, cursor: number): string[] | undefined =>
  states.changesSince("n", cursor).written?.map(({ id }) => id);

describe("KnownStates", () => {
  it("keeps what it has while the revision stays, and forgets it when another one shows up", () => {
    const states = known();
    const { cursor } = states.changesSince("n", 0);
    expect(states.observe("n", at(5), asked(2))).toBe(true);
    expect([cached(states), written(states, cursor)]).toEqual([["a", "b"], []]);
    expect(states.observe("n", at(6), asked(3))).toBe(true);
    expect([cached(states), written(states, cursor), states.moment("n")?.revision]).toEqual([[], undefined, 6]);
  });

  it("forgets everything when the same revision shows up in another history", () => {
    const states = known();
    const { cursor } = states.changesSince("n", 0);
    expect(states.observe("n", at(5, 1), asked(2))).toBe(true);
    expect([cached(states), written(states, cursor), states.moment("n")]).toEqual([[], undefined, at(5, 1)]);
    states.committed("n", commit(5, 6, asked(3)));
    expect(states.moment("n")).toMatchObject(at(6));
    expect(written(states, cursor)).toBeUndefined();
  });

  it("lets an answer that was overtaken change nothing, and goes by the revision where two questions were open at once", () => {
    const states = known();
    states.observe("n", at(6), asked(10, 12));
    expect(states.observe("n", at(5), asked(11, 13))).toBe(false);
    expect([states.moment("n"), states.askedSince("n", 11)]).toEqual([at(6), true]);
    expect(states.observe("n", at(7), asked(9, 14))).toBe(true);
    expect(states.moment("n")).toEqual(at(7));
  });

  it("keeps its own commit when a question that was asked before the acknowledgement is answered after it", () => {
    const states = known();
    states.committed("n", commit(5, 6, asked(2, 6), ["c"]));
    expect(states.observe("n", at(5), asked(4, 7))).toBe(false);
    expect([cached(states), states.moment("n")]).toMatchObject([["a", "b", "c"], at(6)]);
    expect(states.ownHead("n")).toMatchObject(at(6));
  });

  it("knows nothing any more when it cannot tell which of two answers is the later one", () => {
    for (const late of [at(0), at(6, 1)]) {
      const states = known();
      states.committed("n", commit(5, 6, asked(2, 6)));
      expect(states.observe("n", late, asked(4, 7))).toBe(false);
      expect([cached(states), states.moment("n")]).toEqual([[], undefined]);
    }
    const states = known();
    states.observe("n", at(0), asked(3));
    states.committed("n", commit(5, 6, asked(2, 6)));
    expect([cached(states), states.moment("n")]).toEqual([[], undefined]);
  });

  it("takes a lower revision from a later question: the namespace was erased", () => {
    const states = known();
    expect(states.observe("n", at(0), asked(2))).toBe(true);
    expect([cached(states), states.moment("n")?.revision]).toEqual([[], 0]);
  });

  it("goes on from its own commit with everything it has, unless others came between", () => {
    const states = known();
    const { cursor } = states.changesSince("n", 0);
    states.committed("n", commit(5, 6, asked(2), ["c"]));
    expect([cached(states), written(states, cursor), states.moment("n")?.revision]).toEqual([
      ["a", "b", "c"],
      ["c"],
      6,
    ]);
    expect(states.ownHead("n")).toMatchObject({ head: 6, revision: 6 });
    states.committed("n", { ...commit(8, 9, asked(3), ["a"]), undisturbed: false });
    expect([cached(states), written(states, cursor), states.moment("n")?.revision]).toEqual([["a"], undefined, 9]);
    expect(states.ownHead("n")).toBeUndefined();
  });

  it("does not go back to an own commit that it has seen the result of already", () => {
    const states = known();
    states.observe("n", at(7), asked(5));
    states.committed("n", commit(5, 6, asked(4)));
    expect([states.moment("n")?.revision, cached(states)]).toEqual([7, []]);
  });

  it("forgets everything when somebody says that a namespace has changed, and takes nothing else from that", () => {
    const states = known();
    const { cursor } = states.changesSince("n", 0);
    states.notified("n", 5);
    expect([cached(states), written(states, cursor), states.moment("n")?.revision]).toEqual([["a", "b"], [], 5]);
    states.notified("n", 6);
    expect([cached(states), written(states, cursor), states.moment("n")?.revision]).toEqual([[], undefined, undefined]);
    states.notified("never asked for", 2);
    expect(states.moment("never asked for")?.revision).toBeUndefined();
  });

  it("knows since when it is current", () => {
    const states = known();
    expect([states.askedSince("n", 1), states.askedSince("n", 2), states.askedSince("m", 0)]).toEqual([
      true,
      false,
      false,
    ]);
    states.committed("n", commit(5, 6, asked(3)));
    expect(states.askedSince("n", 3)).toBe(true);
  });

  it("does not believe an older answer after it has erased or replaced the states of a namespace", () => {
    for (const after of [at(0), at(900)]) {
      const states = known();
      states.replaced("n", after, asked(10, 12));
      expect([cached(states), states.moment("n")]).toEqual([[], after]);
      expect(states.observe("n", at(5), asked(9, 13))).toBe(false);
      expect(states.moment("n")?.revision).not.toBe(5);
    }
  });

  it("does not believe what it was told while it was replacing the states of a namespace either", () => {
    const states = known();
    states.observe("n", at(6), asked(10, 11));
    states.replaced("n", at(900), asked(9, 12));
    expect(states.moment("n")).toBeUndefined();
  });

  it("keeps the namespaces that were asked for last, 65,536 of them, and no state of another", () => {
    const states = new KnownStates(100_000);
    const ask = (name: string, time: number): void => {
      states.observe(name, at(1), asked(time));
      states.cache.write(name, "s", "a", value);
    };
    const isKnown = (name: string): boolean[] => [
      states.moment(name) !== undefined,
      states.cache.read(name, "s", ["a"], []).length === 0,
    ];
    ask("first", 1);
    ask("second", 2);
    for (let i = 3; i <= 65_536; i++) states.observe(`n${i}`, at(1), asked(i));
    ask("first", 65_537);
    states.observe("one more", at(1), asked(65_538));
    expect([isKnown("first"), isKnown("second")]).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});
