import { LocalFilesystem, Workspace } from "@mastra/core/workspace";
import { memoryStore, type Store } from "@qavr/core";
import { openProcedures } from "@qavr/markdown";
import { type QavrMemory, qavrVector } from "@qavr/mastra";
import { procedureProcessor, rankedToolsProcessor, rankedWorkspace } from "@qavr/mastra/agents";
import { describe, expect, it, vi } from "vitest";
import { bench } from "./support/bench.js";
import { collectGarbage } from "./support/collect-garbage.js";
import { half } from "./support/judged.js";
import { libsql, temporaryFolder } from "./support/stores.js";
import { tools } from "./support/tools.js";

const filesystem = new LocalFilesystem({ basePath: temporaryFolder() });

/** How many users each of the engines on a store is known to have. */
function usersOn(store: Store): number[] {
  const { byStore } = (globalThis as never)[Symbol.for("qavr.mastra.engines")] as {
    readonly byStore: WeakMap<Store, Set<{ readonly users: Set<unknown> }>>;
  };
  return [...(byStore.get(store) ?? [])].map(({ users }) => users.size);
}

/** Collects garbage until what is expected holds. */
const collected = (expected: () => void): Promise<void> =>
  vi.waitFor(
    () => {
      collectGarbage();
      expected();
    },
    { timeout: 5_000 },
  );

describe("an engine that many share", () => {
  const { storage, vector } = libsql();

  it.each<[string, (store: Store) => unknown]>([
    ["memories", (store) => bench({ store }, { storage, vector }).memory],
    ["wrapped vector stores", (store) => qavrVector(vector, { store })],
  ])("forgets those %s that are gone", async (_what, make) => {
    const store = memoryStore();
    const kept = make(store);
    for (let at = 0; at < 50; at++) make(store);
    await collected(() => expect(usersOn(store)[0]).toBeLessThan(10));
    expect(usersOn(store)[0]).toBeGreaterThan(0);
    expect(kept).toBeDefined();
  });

  it("is closed when another is opened on its ledger and nobody uses it any more", async () => {
    const store = memoryStore();
    const make = () => bench({ store, engine: { clock: () => Date.now() } }, { storage, vector }).memory;
    make();
    await collected(() => expect(usersOn(store)).toEqual([0]));
    const kept = make();
    expect(usersOn(store)).toEqual([1]);
    expect(kept).toBeDefined();
  });

  it.each<[string, (memory: QavrMemory) => unknown]>([
    ["a vector store", (memory) => qavrVector(vector, { memory })],
    ["a scorer", (memory) => memory.rewardFrom(half)],
    ["ranked tools", (memory) => rankedToolsProcessor({ memory, tools })],
    ["procedures", (memory) => procedureProcessor({ memory, procedures: openProcedures(temporaryFolder()) })],
    [
      "a workspace",
      (memory) => rankedWorkspace({ memory, workspace: new Workspace({ filesystem, skills: ["skills"] }) }),
    ],
  ])("stays open for %s whose memory is gone", async (_what, make) => {
    const store = memoryStore();
    const memoryOf = (clock?: () => number): QavrMemory =>
      bench({ store, engine: { clock } }, { storage, vector }).memory;
    const kept: unknown[] = [];
    const gone = await (async () => {
      const memory = memoryOf();
      kept.push(make(memory));
      return new WeakRef(memory);
    })();
    await collected(() => expect(gone.deref() === undefined).toBe(true));
    memoryOf(() => Date.now());
    expect(usersOn(store)).toHaveLength(2);
    expect(kept).toHaveLength(1);
  });
});
