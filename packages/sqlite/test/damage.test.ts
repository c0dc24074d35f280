import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../src/index.js";
import { counting, tally } from "./support/counting.js";
import { tamper } from "./support/tamper.js";
import { tempLedger } from "./support/temp-folder.js";

describe("a ledger whose bytes were damaged", () => {
  it("is not read as something else: a flipped bit in an entry is STORE_CORRUPT", async () => {
    const path = tempLedger();
    const store = sqliteStore(path);
    const payload = new TextEncoder().encode("a payload that can be found in the file");
    await store.commit("n", [tally("fine"), { ...tally("hit"), payload }], counting);
    await store.close();
    const bytes = readFileSync(path);
    const at = bytes.indexOf(Buffer.from(payload));
    bytes[at + 3] = (bytes[at + 3] as number) ^ 0x10;
    writeFileSync(path, bytes);
    const damaged = sqliteStore(path);
    expect(await damaged.readEntries("n", { limit: 1 })).toHaveLength(1);
    await expect(damaged.readEntries("n", { limit: 10 })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      details: { seq: 2 },
    });
    await damaged.close();
  });

  it("is not read on from an entry that is gone: the next one cannot be checked, and is the damaged one", async () => {
    const path = tempLedger();
    const store = sqliteStore(path);
    for (const key of ["a", "b", "c", "d"]) await store.commit("n", [tally(key)], counting);
    await store.close();
    for (const gone of [2, 3]) {
      tamper(path, `DELETE FROM entry WHERE seq = ${gone}`);
      const damaged = sqliteStore(path);
      await expect(damaged.readEntries("n", { after: gone, limit: 10 })).rejects.toMatchObject({
        code: "STORE_CORRUPT",
        details: { seq: gone + 1 },
      });
      await damaged.close();
    }
  });

  it("has not ended where its last entries are gone", async () => {
    const path = tempLedger();
    const store = sqliteStore(path);
    for (const key of ["a", "b", "c", "d"]) await store.commit("n", [tally(key)], counting);
    await store.close();
    for (const left of [2, 0]) {
      tamper(path, `DELETE FROM entry WHERE seq > ${left}`);
      const damaged = sqliteStore(path);
      for (const after of [0, left]) {
        await expect(damaged.readEntries("n", { after, limit: 10 })).rejects.toMatchObject({
          code: "STORE_CORRUPT",
          details: { seq: left + 1 },
        });
      }
      if (left > 0) expect(await damaged.readEntries("n", { limit: left })).toHaveLength(left);
      await damaged.close();
    }
  });

  it("does not tell an honest retry of a conflict: what its payload is compared with is held against its digest", async () => {
    const path = tempLedger();
    const store = sqliteStore(path);
    for (const key of ["a", "b", "c", "d"]) await store.commit("n", [tally(key)], counting);
    await store.compact("n", { head: 4, through: 2, checkpoint: [], states: [] });
    const other = { payload: Uint8Array.of(7) };
    for (const [place, key] of ["a", "b", "c", "d"].entries()) {
      const again = [tally(key), { ...tally(key), ...other }];
      const seq = place + 1;
      expect(await store.commit("n", again, counting)).toEqual([
        { status: "duplicate", seq },
        { status: "conflict", seq },
      ]);
    }
    await store.close();
    tamper(path, "UPDATE entry SET payload = x'00'; UPDATE compacted_key SET payload_digest = x'00'");
    const damaged = sqliteStore(path);
    for (const [place, key] of ["a", "b", "c", "d"].entries()) {
      const retry = damaged.commit("n", [tally(key)], counting);
      const beside = damaged.commit("n", [tally(`new ${key}`)], counting);
      await expect(retry).rejects.toMatchObject({ code: "STORE_CORRUPT", details: { seq: place + 1 } });
      expect(await beside).toEqual([{ status: "committed", seq: place + 5 }]);
    }
    await damaged.close();
  });

  it("rejects reads and commits that meet a broken page with STORE_CORRUPT", async () => {
    const path = tempLedger();
    const store = sqliteStore(path);
    const entries = Array.from({ length: 300 }, (_, i) => ({
      ...tally(`k${i}`),
      payload: new Uint8Array(900).fill(i),
    }));
    await store.commit("n", entries, counting);
    await store.close();
    const bytes = readFileSync(path);
    // Everything behind the schema's page: tables and indexes alike.
    bytes.fill(0xa5, 4096);
    writeFileSync(path, bytes);
    const damaged = sqliteStore(path);
    await expect(damaged.readEntries("n", { limit: 10 })).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(damaged.readStates("n", "stats", ["count"])).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(damaged.head("n")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect(damaged.commit("n", [tally("new")], counting)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await damaged.close();
  });
});
