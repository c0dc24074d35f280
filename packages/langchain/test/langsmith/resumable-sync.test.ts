import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { memoryStore, type Store } from "@qavr/core";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { qavr } from "../../src/index.js";
import { fileCursor, type LangSmithFeedback, langsmithFeedback, type SyncCursor } from "../../src/langsmith/index.js";
import { byId, type LangSmithServer, langsmithServer, newestFirst, oldestFirst } from "../support/langsmith-server.js";
import { tempFolder } from "../support/temp-folder.js";

const DAY = 86_400_000;
const runIdOf = (run: number): string => `bbbbbbbb-bbbb-4bbb-8bbb-${String(run).padStart(12, "0")}`;

let server: LangSmithServer;
let folder: string;
beforeEach(async () => {
  server = await langsmithServer();
  folder = tempFolder();
});
afterEach(() => server.close());

/** A ledger with `runs` recorded runs, each of which was shown a memory of its own. */
async function ledgerOf(runs: number): Promise<Store> {
  const store = memoryStore();
  const { engine } = qavr({ store });
  for (let run = 0; run < runs; run++) {
    const candidates = [{ id: `memory-${run}`, similarity: 1 }];
    const { episode } = await engine.rank({ aliases: [runIdOf(run)], candidates, topK: 1 });
    await engine.end(episode);
  }
  return store;
}

/** Feedback on each run, one a minute, every third one bad. */
function feedbackOn(runs: number): void {
  for (let run = 0; run < runs; run++) server.add({ run_id: runIdOf(run), score: run % 3 === 0 ? 0 : 1 });
}

const syncOf = (store: Store, options: { cursor?: SyncCursor; lookback?: number } = {}) =>
  langsmithFeedback({ memory: qavr({ store, logger: {} }), client: server.client, ...options });

describe("a sync", () => {
  it.each([
    ["newest first", newestFirst],
    ["oldest first", oldestFirst],
    ["in no order", byId],
  ])("reads all pages of a list that comes %s", async (_order, order) => {
    server.order = order;
    const store = await ledgerOf(250);
    feedbackOn(250);
    expect(await syncOf(store).sync()).toMatchObject({ recorded: 250, duplicate: 0, unknown: 0 });
    expect(server.pages.map((page) => page.get("offset"))).toEqual(["0", "100", "200"]);
    expect((await qavr({ store }).status()).outcomes.user).toBe(250);
  });

  it("reads no further back than it must where the list falls in time", async () => {
    const store = await ledgerOf(5);
    for (let day = 0; day < 400; day++) {
      const at = new Date(Date.parse("2024-01-01") + day * DAY).toISOString();
      server.add({ run_id: runIdOf(day % 5), score: 1, created_at: at, modified_at: at });
    }
    const cursor = fileCursor(join(folder, "cursor"));
    await syncOf(store, { cursor }).sync();
    expect(server.pages).toHaveLength(5);
    server.add({
      run_id: runIdOf(0),
      score: 0,
      created_at: "2025-06-01T00:00:00Z",
      modified_at: "2025-06-01T00:00:00Z",
    });
    server.pages.length = 0;
    expect(await syncOf(store, { cursor }).sync()).toMatchObject({ recorded: 1, duplicate: 2 });
    expect(server.pages).toHaveLength(1);
  });

  it.each([
    ["oldest first", oldestFirst],
    ["in no order", byId],
  ])("reads on to the end where the list comes %s", async (_order, order) => {
    server.order = order;
    const store = await ledgerOf(250);
    feedbackOn(250);
    const cursor = fileCursor(join(folder, "cursor"));
    await cursor.write("2030-01-01T00:00:00.000Z");
    const late = { score: 0, created_at: "2030-01-02T00:00:00Z", modified_at: "2030-01-02T00:00:00Z" };
    server.add({ ...late, run_id: runIdOf(7), id: "77777777-7777-4777-8777-777777777777" });
    expect(await syncOf(store, { cursor }).sync()).toMatchObject({ recorded: 1 });
  });

  it("finds again, within the lookback, what an edit or a deletion moved", async () => {
    const store = await ledgerOf(150);
    feedbackOn(150);
    const removed = server.feedback.at(-1)!;
    server.beforePage = (page) => {
      // The list moves up by one while it is read: the first of the second page is now the last of the first.
      if (page === 2) server.feedback.splice(server.feedback.indexOf(removed), 1);
    };
    const feedback = syncOf(store);
    expect(await feedback.sync()).toMatchObject({ recorded: 149 });
    server.feedback.push(removed);
    expect(await feedback.sync()).toMatchObject({ recorded: 1 });
    expect((await qavr({ store }).status()).outcomes.user).toBe(150);
  });

  it("takes what comes in while it reads once", async () => {
    const store = await ledgerOf(151);
    feedbackOn(150);
    server.beforePage = (page) => {
      if (page === 2) server.add({ run_id: runIdOf(150), score: 1 });
    };
    const feedback = syncOf(store);
    expect(await feedback.sync()).toMatchObject({ recorded: 150, duplicate: 0 });
    expect(await feedback.sync()).toMatchObject({ recorded: 1 });
  });

  it("that is asked for twice at once runs once", async () => {
    const store = await ledgerOf(3);
    feedbackOn(3);
    const feedback = syncOf(store);
    const [first, second] = await Promise.all([feedback.sync(), feedback.sync()]);
    expect(first).toEqual(second);
    expect(server.pages).toHaveLength(1);
  });

  it("of two processes at once records each feedback once", async () => {
    const store = await ledgerOf(50);
    feedbackOn(50);
    const reports = await Promise.all([syncOf(store).sync(), syncOf(store).sync()]);
    expect(reports[0]!.recorded + reports[1]!.recorded).toBe(50);
    expect((await qavr({ store }).status()).outcomes.user).toBe(50);
  });

  it("does nothing while learning is off, and loses nothing by it", async () => {
    const store = await ledgerOf(3);
    feedbackOn(3);
    const cursor = fileCursor(join(folder, "cursor"));
    const off = langsmithFeedback({ memory: qavr({ store, enabled: false }), client: server.client, cursor });
    expect(await off.sync()).toEqual({
      recorded: 0,
      duplicate: 0,
      silent: 0,
      unknown: 0,
      refused: 0,
      cursor: undefined,
    });
    expect(await off.record(server.feedback[0]!)).toEqual({ status: "ignored" });
    expect(server.pages).toHaveLength(0);
    expect(await syncOf(store, { cursor }).sync()).toMatchObject({ recorded: 3 });
  });

  it("still finds what comes after feedback whose sender's clock is years ahead", async () => {
    const store = await ledgerOf(2);
    const cursor = fileCursor(join(folder, "cursor"));
    server.add({
      run_id: runIdOf(0),
      score: 1,
      created_at: "2999-01-01T00:00:00Z",
      modified_at: "2999-01-01T00:00:00Z",
    });
    await syncOf(store, { cursor }).sync();
    server.add({ run_id: runIdOf(1), score: 0, created_at: new Date().toISOString() });
    expect(await syncOf(store, { cursor }).sync()).toMatchObject({ recorded: 1, duplicate: 1 });
  });

  it("reads feedback whose date nobody can read", async () => {
    const store = await ledgerOf(2);
    const cursor = fileCursor(join(folder, "cursor"));
    await cursor.write("2026-06-01T00:00:00Z");
    const undated = { run_id: runIdOf(0), score: 0, created_at: "yesterday" } as const;
    server.add(undated);
    const feedback = syncOf(store, { cursor });
    expect(await feedback.sync()).toMatchObject({ recorded: 1, cursor: "2026-06-01T00:00:00.000Z" });
  });
});

describe("a sync that is broken off", () => {
  it("by the server rejects, keeps what it had and goes on", async () => {
    const store = await ledgerOf(150);
    feedbackOn(150);
    let down = true;
    server.beforePage = (page) => {
      if (down && page > 1) throw new Error("server is restarting");
    };
    const feedback = syncOf(store);
    await expect(feedback.sync()).rejects.toThrow("server is restarting");
    expect((await qavr({ store }).status()).outcomes.user).toBe(0);
    down = false;
    expect(await feedback.sync()).toMatchObject({ recorded: 150 });
  });

  it("finds what is old and was edited last, although what came between is behind the cursor", async () => {
    const inner = await ledgerOf(1);
    const minute = (place: number): string => new Date(Date.parse("2026-01-01") + place * 60_000).toISOString();
    const said = (place: number) => ({ run_id: runIdOf(0), created_at: minute(place) });
    server.add({ ...said(0), score: 0, modified_at: minute(1_000) });
    for (let place = 1; place < 250; place++) server.add({ ...said(place), score: 1, modified_at: minute(place) });
    let commits = 0;
    const commit: Store["commit"] = (...args) =>
      ++commits === 150 ? Promise.reject(new Error("crash")) : inner.commit(...args);
    const feedback = syncOf({ ...inner, commit }, { lookback: 0 });
    await expect(feedback.sync()).rejects.toMatchObject({ code: "STORE_FAILED" });
    await feedback.sync();
    expect((await qavr({ store: inner }).explain(runIdOf(0)))?.outcome).toMatchObject({ reward: 0 });
  });

  it("at any point, in any order and with edits, ends like one that was not", async () => {
    const orders = [newestFirst, oldestFirst, byId];
    const runs = 12;
    const words = fc.array(
      fc.record({
        run: fc.nat(runs - 1),
        score: fc.boolean(),
        created: fc.nat(20),
        editedAfter: fc.option(fc.nat(40), { nil: 0 }),
      }),
      { minLength: 101, maxLength: 330 },
    );
    const crashes = fc.array(fc.nat(330), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(words, crashes, fc.constantFrom(...orders), async (said, fails, order) => {
        const feedback = said.map(({ run, score, created, editedAfter }, place): LangSmithFeedback => {
          const at = (day: number): string => new Date(Date.parse("2026-01-01") + day * DAY + place).toISOString();
          return {
            id: `feedback-${(place * 7919) % 331}`,
            run_id: runIdOf(run),
            key: "user_score",
            score,
            created_at: at(created),
            modified_at: at(created + editedAfter),
          };
        });
        const listed = [...feedback].sort(order as never);
        const client = {
          async *listFeedback() {
            yield* listed;
          },
        };
        const sync = async (store: Store, cursor: SyncCursor): Promise<void> => {
          await langsmithFeedback({ memory: qavr({ store }), client, cursor }).sync();
        };
        const inner = await ledgerOf(runs);
        let commits = 0;
        const kept: { cursor?: string } = {};
        const cursor: SyncCursor = {
          read: async () => kept.cursor,
          write: async (next) => {
            kept.cursor = next;
          },
        };
        for (const fail of fails) {
          commits = 0;
          const store: Store = {
            ...inner,
            commit: (...args) => (commits++ === fail ? Promise.reject(new Error("crash")) : inner.commit(...args)),
          };
          await sync(store, cursor).catch(() => undefined);
        }
        await sync(inner, cursor);
        const whole = await ledgerOf(runs);
        await sync(whole, { read: async () => undefined, write: async () => undefined });
        for (let run = 0; run < runs; run++) {
          const [a, b] = await Promise.all([inner, whole].map((store) => qavr({ store }).explain(runIdOf(run))));
          expect(a?.outcome).toEqual(b?.outcome);
        }
        const [a, b] = await Promise.all([inner, whole].map((store) => qavr({ store }).status()));
        expect(a?.outcomes).toEqual(b?.outcomes);
        expect(a?.taught).toBe(b?.taught);
      }),
      // Shrinking replays hundreds of commits per step.
      { numRuns: 40, endOnFailure: true },
    );
  });
});

describe("a cursor in a file", () => {
  it("makes its folder, and leaves nothing else behind", async () => {
    const cursor = fileCursor(join(folder, "deep", "er", "cursor"));
    expect(await cursor.read()).toBeUndefined();
    await cursor.write("2026-01-01T00:00:00.000Z");
    await cursor.write("2026-01-02T00:00:00.000Z");
    expect(await cursor.read()).toBe("2026-01-02T00:00:00.000Z");
    expect(await readdir(join(folder, "deep", "er"))).toEqual(["cursor"]);
  });

  it("may be written by several syncs at the same time", async () => {
    const path = join(folder, "cursor");
    await Promise.all([1, 2, 3].map((day) => fileCursor(path).write(`2026-01-0${day}T00:00:00.000Z`)));
    expect(await fileCursor(path).read()).toMatch(/^2026-01-0[123]T00:00:00.000Z$/);
    expect(await readdir(folder)).toEqual(["cursor"]);
  });

  it("that nobody can read costs a longer sync and no feedback", async () => {
    const store = await ledgerOf(3);
    feedbackOn(3);
    const path = join(folder, "cursor");
    await writeFile(path, "2026-01-");
    const { cursor } = await syncOf(store, { cursor: fileCursor(path) }).sync();
    expect((await qavr({ store }).status()).outcomes.user).toBe(3);
    expect((await readFile(path, "utf8")).trim()).toBe(cursor);
  });

  it("does not hide what the file system says", async () => {
    await expect(fileCursor(folder).read()).rejects.toMatchObject({ code: "EISDIR" });
  });
});
