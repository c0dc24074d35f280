import { setImmediate as afterThisTick } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { namespaceQueue, type QueuedCall } from "./namespace-queue.js";

interface Call extends QueuedCall {
  readonly name: string;
}

/** A queue whose groups end when the test says so. */
function controlled(together: number) {
  const groups: { namespace: string; names: string[]; end: () => void }[] = [];
  const queue = namespaceQueue<Call>(
    { together, alone: 1 },
    (namespace, calls) =>
      new Promise<void>((resolve) => {
        groups.push({ namespace, names: calls.map(({ name }) => name), end: resolve });
      }),
  );
  const add = (namespace: string, name: string, alone = false): void => queue.add(namespace, { name, alone });
  const begun = (): string[] => groups.map(({ namespace, names }) => `${namespace}: ${names.join(" ")}`);
  return { queue, groups, add, begun };
}

describe("namespaceQueue", () => {
  it("does the calls of one tick together, and those that come meanwhile together afterwards", async () => {
    const { groups, add, begun } = controlled(4);
    add("n", "a");
    add("n", "b");
    await afterThisTick();
    add("n", "c");
    add("n", "d");
    await afterThisTick();
    expect(begun()).toEqual(["n: a b"]);
    groups[0]?.end();
    await afterThisTick();
    await afterThisTick();
    expect(begun()).toEqual(["n: a b", "n: c d"]);
  });

  it("does calls where a test fakes the timers before the package is loaded", async () => {
    vi.useFakeTimers();
    try {
      vi.resetModules();
      const loaded = await import("./namespace-queue.js");
      const done: string[] = [];
      const queue = loaded.namespaceQueue<Call>(
        { together: 1, alone: 1 },
        async (namespace) => void done.push(namespace),
      );
      queue.add("n", { name: "a", alone: false });
      await afterThisTick();
      expect(done).toEqual(["n"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("does namespaces side by side, as many as it has lanes, and the others in the order they came", async () => {
    const { groups, add, begun } = controlled(2);
    for (const namespace of ["w", "x", "y", "z"]) add(namespace, "a");
    await afterThisTick();
    expect(begun()).toEqual(["w: a", "x: a"]);
    groups[1]?.end();
    await afterThisTick();
    await afterThisTick();
    expect(begun()).toEqual(["w: a", "x: a", "y: a"]);
  });

  it("lets no namespace wait behind one that never runs out of calls", async () => {
    const { groups, add, begun } = controlled(1);
    const flood = (): void => {
      for (let call = 0; call < 1_500; call++) add("flooded", "a");
    };
    flood();
    add("quiet", "b");
    for (let group = 0; group < 2; group++) {
      await afterThisTick();
      await afterThisTick();
      flood();
      groups[group]?.end();
    }
    expect(begun()[1]).toBe("quiet: b");
  });

  it("does a call that wants to be alone by itself, in its place", async () => {
    const { groups, add, begun } = controlled(1);
    add("n", "a");
    add("n", "erase", true);
    add("n", "b");
    add("n", "c");
    for (let group = 0; group < 3; group++) {
      await afterThisTick();
      await afterThisTick();
      groups[group]?.end();
    }
    expect(begun()).toEqual(["n: a", "n: erase", "n: b c"]);
  });

  it("lets those that must be alone keep no other namespace from its turn", async () => {
    const { groups, add, begun } = controlled(1);
    add("n", "erase", true);
    add("n", "a");
    add("m", "erase", true);
    add("o", "b");
    await afterThisTick();
    expect(begun().sort()).toEqual(["n: erase", "o: b"]);
    for (const group of groups.splice(0)) group.end();
    for (let tick = 0; tick < 3; tick++) await afterThisTick();
    expect(begun().sort()).toEqual(["m: erase", "n: a"]);
  });

  it("is drained when nothing waits or is under way", async () => {
    const { queue, groups, add } = controlled(1);
    await queue.drained();
    add("n", "a");
    add("m", "b");
    let drained = false;
    const done = queue.drained().then(() => {
      drained = true;
    });
    await afterThisTick();
    groups[0]?.end();
    await afterThisTick();
    await afterThisTick();
    expect(drained).toBe(false);
    groups[1]?.end();
    await done;
    expect(drained).toBe(true);
  });
});
