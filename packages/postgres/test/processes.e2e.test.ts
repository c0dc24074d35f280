import { describe, expect, it } from "vitest";
import { runFixture } from "../../core/test/support/child.js";
import { countIn, counting, tally } from "../../core/test/support/counting.js";
import { postgresStore } from "../src/index.js";
import { openStore, testServer } from "./support/server.js";

const COUNT = new URL("./fixtures/count.mjs", import.meta.url);
const server = await testServer();
const connectionString = server.url();

describe("several processes on one ledger", () => {
  it("create it together: one migrates, all go on", async () => {
    const schema = server.schema();
    const moment = String(Date.now() + 500);
    const children = await Promise.all(
      Array.from({ length: 6 }, (_, child) => runFixture(COUNT, [connectionString, schema, `p${child}`, "5", moment])),
    );
    expect(children).toEqual(Array(6).fill({ code: 0, stdout: "5\n", stderr: "" }));
    const store = openStore({ connectionString, schema });
    expect(await countIn(store)).toBe(30);
  });
});

describe("two handles that write to many namespaces at once", () => {
  it("never deadlock, and keep one order per namespace", async () => {
    const schema = server.schema();
    const handles = [0, 1].map(() => openStore({ connectionString, schema, writers: 6 }));
    const calls = Array.from({ length: 600 }, (_, call) =>
      handles[call % 2]?.commit(`n${(call * 7) % 12}`, [tally(`k${call}`)], counting),
    );
    await Promise.all(calls);
    for (const namespace of await (handles[0] as (typeof handles)[0]).namespaces({ limit: 100 })) {
      const entries = await handles[1]?.readEntries(namespace, { limit: 1_000 });
      expect(entries?.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
      for (const handle of handles) expect(await countIn(handle, namespace)).toBe(50);
    }
    const { rows } = await server.pool.query("select sum(deadlocks)::int as deadlocks from pg_stat_database");
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });

  it("show a reader that has seen an entry all entries before it, and the state of at least that moment", async () => {
    const schema = server.schema();
    const [first, second, third] = [0, 1, 2].map(() => postgresStore({ connectionString, schema }));
    if (!first || !second || !third) throw new Error("three handles");
    let writing = true;
    const write = async (store: typeof first, name: string): Promise<void> => {
      for (let n = 0; n < 60; n++) await store.commit("n", [tally(`${name}-${n}`)], counting);
    };
    const writers = Promise.all([write(first, "a"), write(second, "b")]).finally(() => {
      writing = false;
    });
    let looks = 0;
    while (writing) {
      const entries = await third.readEntries("n", { limit: 1_000 });
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1));
      expect(await countIn(third)).toBeGreaterThanOrEqual(entries.length);
      expect(await third.head("n")).toBeGreaterThanOrEqual(entries.length);
      looks += 1;
    }
    await writers;
    expect(looks).toBeGreaterThan(3);
    expect(await countIn(third)).toBe(120);
    for (const handle of [first, second, third]) await handle.close();
  });
});
