import { describe, expect, it, vi } from "vitest";
import { memoryStore, type Store } from "../src/index.js";
import { compact, moveNamespace, replay, revoke, verify } from "../src/maintenance/index.js";
import { rendezvous, routedStore } from "../src/store-kit.js";
import { ids, oneRun, request, START, snapshot, type TestEngine, testEngine } from "./support/test-engine.js";
import { writeStates } from "./support/write-states.js";

const NAMESPACE = "default";
const NAMES = ["north", "south", "west"] as const;

interface Places {
  readonly stores: Record<(typeof NAMES)[number], Store>;
  /** A new handle of a process that knows nothing. */
  open(): Store;
}

/** Three stores; every namespace is at home in the north. */
function places(given: Partial<Places["stores"]> = {}): Places {
  const stores = { north: memoryStore(), south: memoryStore(), west: memoryStore(), ...given };
  return { stores, open: () => routedStore({ stores, by: () => "north" }) };
}

let processes = 0;
const engineOn = (store: Store): TestEngine => testEngine({ store, prefix: `process-${++processes}` });

async function learn({ engine }: TestEngine, runs: number, reward: boolean | number = false): Promise<void> {
  for (let run = 0; run < runs; run++) await oneRun(engine, request(), { reward });
}

const move = ({ engine }: TestEngine, to: string) => moveNamespace(engine, { namespace: NAMESPACE, to });
const headIn = (store: Store): Promise<number> => store.head(NAMESPACE);

describe("a namespace that moves", () => {
  it("keeps its ledger and its states, and goes on in the other store", async () => {
    const { stores, open } = places();
    const tested = engineOn(open());
    await learn(tested, 20);
    const before = await snapshot(stores.north);
    const ranked = ids(await tested.engine.rank({ ...request(), record: false }));
    expect(await move(tested, "south")).toEqual({ namespace: NAMESPACE, from: "north", to: "south", entries: 41 });
    expect(await snapshot(stores.south)).toEqual({ ...(before as object), head: 41 });
    expect(ids(await tested.engine.rank({ ...request(), record: false }))).toEqual(ranked);
    await learn(tested, 5);
    expect([await headIn(stores.north), await headIn(stores.south)]).toEqual([41, 51]);
    expect(await verify(tested.engine)).toMatchObject({ ok: true, namespaces: 1 });
    expect((await tested.engine.history()).events.at(40)).toMatchObject({ type: "move", to: "south" });
    expect(tested.logs.map(({ fields }) => fields.code)).toContain("NAMESPACE_MOVED");
  });

  it("is followed by processes that do not know of the move: their writes and reads go where it went", async () => {
    const { stores, open } = places();
    const [mover, writer, reader] = [engineOn(open()), engineOn(open()), engineOn(open())];
    await learn(writer, 20);
    const unlearned = ids(await engineOn(memoryStore()).engine.rank(request()));
    expect(ids(await reader.engine.rank(request()))).not.toEqual(unlearned);
    await move(mover, "south");
    await learn(writer, 30, true);
    expect([await headIn(stores.north), await headIn(stores.south)]).toEqual([41, 101]);
    const fresh = engineOn(open());
    const ranked = ids(await fresh.engine.rank({ ...request(), record: false }));
    expect(ids(await reader.engine.rank({ ...request(), record: false }))).toEqual(ranked);
    expect((await engineOn(open()).engine.status()).episodes.recorded).toBe(50);
  });

  it("loses and doubles nothing that is recorded while it moves around", async () => {
    const { open } = places();
    const writers = [engineOn(open()), engineOn(open())];
    const mover = engineOn(open());
    let moving = true;
    const counts = writers.map(async (writer) => {
      let runs = 0;
      for (; moving; runs++) await learn(writer, 1);
      return runs;
    });
    for (const to of ["south", "west", "north", "west", "south", "north"]) await move(mover, to);
    moving = false;
    const runs = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    const { engine } = engineOn(open());
    expect(runs).toBeGreaterThan(0);
    expect(await engine.status()).toMatchObject({ episodes: { recorded: runs } });
    expect(await verify(engine)).toMatchObject({ ok: true, namespaces: 1 });
  });

  it("takes only what came since when it moves back", async () => {
    const { stores, open } = places();
    const tested = engineOn(open());
    await learn(tested, 10);
    await move(tested, "south");
    await learn(tested, 5);
    const commit = vi.spyOn(stores.north, "commit");
    await move(tested, "north");
    expect(commit.mock.calls.flatMap(([, entries]) => entries)).toHaveLength(11);
    expect(await headIn(stores.north)).toBe(32);
    await learn(tested, 1);
    expect([await headIn(stores.north), await headIn(stores.south)]).toEqual([34, 32]);
    expect(await verify(tested.engine)).toMatchObject({ ok: true });
  });

  it("keeps out of what it learned the outcomes that were revoked", async () => {
    const { open } = places();
    const tested = engineOn(open());
    for (let run = 0; run < 20; run++) {
      await oneRun(tested.engine, request(), { reward: run % 2 === 0, source: run < 10 ? "liar" : "ann" });
    }
    await revoke(tested.engine, { namespace: NAMESPACE, source: "liar" });
    await move(tested, "south");
    expect(await verify(tested.engine)).toMatchObject({ ok: true });
  });

  it("may be there before its first entry: a new tenant's place", async () => {
    const { stores, open } = places();
    const tested = engineOn(open());
    await move(tested, "west");
    await learn(tested, 1);
    expect([await headIn(stores.north), await headIn(stores.west)]).toEqual([1, 3]);
  });

  it("begins again at home when it was erased, for every process", async () => {
    const { stores, open } = places();
    const [tested, other] = [engineOn(open()), engineOn(open())];
    await learn(tested, 3);
    await move(tested, "south");
    await learn(other, 1);
    await tested.store.eraseNamespace(NAMESPACE);
    expect(await Promise.all(Object.values(stores).map(headIn))).toEqual([0, 0, 0]);
    await learn(other, 1);
    await learn(tested, 1);
    expect(await Promise.all(Object.values(stores).map(headIn))).toEqual([4, 0, 0]);
  });

  it("stays where it is in spite of a replay or a compaction", async () => {
    const { stores, open } = places();
    const tested = engineOn(open());
    await learn(tested, 3);
    await move(tested, "south");
    await writeStates(tested.store, NAMESPACE, [{ scope: "memory:default", id: "m0", value: Uint8Array.of(1) }]);
    expect(await replay(tested.engine, { namespace: NAMESPACE, write: true })).toMatchObject({ written: true });
    tested.clock.now = START + 1;
    expect(await compact(tested.engine, { namespace: NAMESPACE, olderThan: 0 })).toMatchObject({ checkpoint: 7 });
    expect(await open().head(NAMESPACE)).toBe(7);
    expect(await headIn(stores.south)).toBe(7);
  });
});

describe("a move that is interrupted", () => {
  it("before the switch leaves the namespace where it was, and goes on when repeated", async () => {
    const south = memoryStore();
    const { stores, open } = places({ south });
    const tested = engineOn(open());
    await learn(tested, 400);
    const commit = vi.spyOn(south, "commit");
    commit.mockImplementationOnce((...given) => memoryStore().commit(...given));
    await expect(move(tested, "south")).rejects.toMatchObject({ code: "STORE_FAILED" });
    await learn(tested, 1);
    commit.mockRestore();
    await move(tested, "south");
    expect([await headIn(stores.north), await headIn(stores.south)]).toEqual([803, 803]);
    expect(await verify(tested.engine)).toMatchObject({ ok: true });
  });

  it("after the switch makes calls wait, says what to do, and is finished by repeating it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "Date"] });
    try {
      const south = memoryStore();
      const { open } = places({ south });
      const tested = engineOn(open());
      await learn(tested, 3);
      const { commit } = south;
      vi.spyOn(south, "commit").mockImplementationOnce(commit).mockRejectedValueOnce(new Error("the power is gone"));
      await expect(move(tested, "south")).rejects.toThrow("the power is gone");
      const waiting = expect(open().head(NAMESPACE)).rejects.toMatchObject({
        code: "STORE_BUSY",
        details: { holder: "north", place: "south" },
      });
      await vi.advanceTimersByTimeAsync(6_000);
      await waiting;
      await move(tested, "south");
      await learn(tested, 1);
      expect([await headIn(south), await open().head(NAMESPACE)]).toEqual([9, 9]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a move is refused", () => {
  it("to a store that is not there, from a store that is not routed, and with a misspelt option", async () => {
    const { open } = places();
    const tested = engineOn(open());
    await expect(move(tested, "east")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(move(engineOn(memoryStore()), "south")).rejects.toMatchObject({ code: "UNSUPPORTED" });
    const misspelt = { namespace: NAMESPACE, too: "south" } as never;
    await expect(moveNamespace(tested.engine, misspelt)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("for a compacted ledger, whose beginning is gone, and where the target has other entries", async () => {
    const { stores, open } = places();
    const tested = engineOn(open());
    await learn(engineOn(stores.west), 1);
    await learn(tested, 3);
    await expect(move(tested, "west")).rejects.toMatchObject({ code: "STORE_FAILED" });
    tested.clock.now = START + 1;
    await compact(tested.engine, { namespace: NAMESPACE, olderThan: 0 });
    const committed = vi.spyOn(stores.south, "commit");
    await expect(move(tested, "south")).rejects.toMatchObject({ code: "UNSUPPORTED" });
    expect(committed).not.toHaveBeenCalled();
    expect([await headIn(stores.north), await headIn(stores.south)]).toEqual([6, 0]);
    await learn(tested, 1);
    expect(await headIn(stores.north)).toBe(8);
  });

  it("for a ledger that was compacted since it left the target, which has a copy", async () => {
    const { open } = places();
    const tested = engineOn(open());
    await learn(tested, 3);
    await move(tested, "south");
    await learn(tested, 3);
    tested.clock.now = START + 1;
    await compact(tested.engine, { namespace: NAMESPACE, olderThan: 0 });
    await expect(move(tested, "north")).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });
});

describe("a store of several that fails", () => {
  const dead = (store: Store): Store => ({
    ...store,
    ...Object.fromEntries(
      ["commit", "readStates", "scanStates", "readEntries", "head", "namespaces"].map((method) => [
        method,
        () => Promise.reject(new Error("connection refused")),
      ]),
    ),
  });

  it("stops its own namespaces only, rankings included", async () => {
    const stores = { north: memoryStore(), south: dead(memoryStore()) };
    const store = routedStore({ stores, by: (namespace) => (namespace === "lost" ? "south" : "north") });
    const tested = engineOn(store);
    await learn(tested, 20);
    const learned = ids(await tested.engine.rank({ ...request(), record: false }));
    for (let attempt = 0; attempt < 10; attempt++) {
      expect(await tested.engine.rank({ ...request(), namespace: "lost", record: false })).toMatchObject({
        degraded: { code: attempt < 5 ? "STORE_FAILED" : "STORE_CIRCUIT_OPEN" },
      });
      const ranking = await tested.engine.rank({ ...request(), record: false });
      expect([ids(ranking), ranking.degraded]).toEqual([learned, undefined]);
    }
    expect(tested.engine.health()).toMatchObject({ readCircuitOpen: true });
    await learn(tested, 1);
    await expect(store.namespaces({ limit: 1 })).rejects.toThrow("connection refused");
    const onMissing = vi.fn();
    expect(await store.namespaces({ limit: 1, onMissing })).toEqual([NAMESPACE]);
    expect(onMissing.mock.calls).toEqual([["store south"]]);
  });

  it("does not pass for an empty one when it fails during a check, after its own part of it", async () => {
    const whole = { namespaces: 0, entries: 0, digest: "", damaged: 0, damage: [] };
    const checked = (store: Store): Store => ({ ...store, verify: async () => whole });
    const stores = { north: checked(memoryStore()), south: dead(checked(memoryStore())) };
    await expect(routedStore({ stores, by: () => "north" }).verify?.()).rejects.toThrow("connection refused");
  });

  it("is named by a check, however damaged another one is", async () => {
    const checked = (store: Store, damaged: number): Store => {
      const damage = Array.from({ length: damaged }, (_, seq) => ({ seq, problem: "a damaged entry" }));
      return { ...store, verify: async () => ({ namespaces: 0, entries: 0, digest: "", damaged, damage }) };
    };
    const stores = {
      north: checked(memoryStore(), 100),
      south: dead(checked(memoryStore(), 0)),
      west: { ...memoryStore(), verify: () => Promise.reject(new Error("connection refused")) },
    };
    const check = await routedStore({ stores, by: () => "north" }).verify?.();
    expect(check?.damaged).toBe(102);
    expect(check?.damage.slice(0, 2).map(({ problem }) => problem)).toEqual([
      "store west could not be checked: connection refused",
      "store south went away during the check",
    ]);
  });
});

describe("routedStore", () => {
  it("refuses options that name no place", async () => {
    const stores = { north: memoryStore() };
    for (const wrong of [undefined, {}, { stores: {}, by: () => "north" }, { stores: { north: {} } }, { stores }]) {
      expect(() => routedStore(wrong as never)).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    }
    const nowhere = routedStore({ stores, by: () => "south" });
    await expect(nowhere.head("n")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("is as weak as the weakest of its stores", () => {
    const { stores } = places();
    const strong: Store = { ...memoryStore(), capabilities: { durable: true, sharedBackend: true, staleness: 20 } };
    const { readCheckpoint: _checkpoint, changesSince: _changes, ...plain } = memoryStore();
    const by = (): string => "a";
    expect(routedStore({ stores: { a: strong }, by }).capabilities).toEqual(strong.capabilities);
    const mixed = routedStore({ stores: { a: strong, b: plain, ...stores }, by });
    expect(mixed.capabilities).toEqual({ durable: false, sharedBackend: false, staleness: 20 });
    expect([mixed.readCheckpoint, mixed.changesSince, mixed.verify]).toEqual([undefined, undefined, undefined]);
  });
});

describe("rendezvous", () => {
  const namespaces = Array.from({ length: 9_000 }, (_, i) => `tenant:${i}`);

  it("spreads namespaces evenly, in whichever order the stores are named", () => {
    const [home, same] = [rendezvous(["a", "b", "c"]), rendezvous(["c", "a", "b"])];
    const byHome = Map.groupBy(namespaces, home);
    for (const { length } of byHome.values()) expect(Math.abs(length - 3_000)).toBeLessThan(200);
    expect(namespaces.every((namespace) => home(namespace) === same(namespace))).toBe(true);
  });

  it("gives an added store its share, and moves nothing between the others", () => {
    const [home, larger] = [rendezvous(["a", "b", "c"]), rendezvous(["a", "b", "c", "d"])];
    const others = namespaces.filter((namespace) => larger(namespace) !== home(namespace));
    expect(new Set(others.map(larger))).toEqual(new Set(["d"]));
    expect(Math.abs(others.length - 2_250)).toBeLessThan(200);
  });

  it("gives the homes that it always gave", () => {
    const home = rendezvous(["north", "south", "west"]);
    expect(["tenant:acme", "tenant:beta", "default", "\u{1F984}", "a\0b"].map(home)).toEqual([
      "north",
      "west",
      "north",
      "north",
      "west",
    ]);
  });

  it("refuses an empty list", () => {
    expect(() => rendezvous([])).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});
