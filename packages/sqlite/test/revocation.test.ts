import { createEngine } from "@qavr/core";
import { replay, revoke } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { closing } from "../../core/test/support/closing.js";
import { sqliteStore } from "../src/index.js";
import { tempLedger } from "./support/temp-folder.js";

describe("a revocation in one handle of a file", () => {
  it("reaches what another handle remembers, and the next one that opens it", async () => {
    const path = tempLedger();
    const [left, right] = [sqliteStore(path), sqliteStore(path)].map((store) => createEngine({ store }));
    if (!left || !right) throw new Error("There are two engines.");
    const candidates = [0.9, 0.88, 0.86].map((similarity, i) => ({ id: `d${i}`, similarity }));
    const first = async (engine: typeof left): Promise<string | undefined> =>
      (await engine.rank({ candidates, topK: 1, record: false })).items[0]?.id;
    for (let run = 0; run < 30; run++) {
      const { episode } = await left.rank({ candidates, topK: 1, keepOrder: true });
      await left.end(episode, { reward: false, source: "liar" });
    }
    expect([await first(left), await first(right)]).toEqual(["d1", "d1"]);
    const sizes = () => Promise.all([left, right].map((engine) => engine.fetchSize({ topK: 1 })));
    expect(await sizes()).toEqual([50, 50]);
    expect(await revoke(right, { namespace: "default", source: "liar" })).toMatchObject({ outcomes: 30, memories: 1 });
    expect([await first(left), await first(right)]).toEqual(["d0", "d0"]);
    expect(await sizes()).toEqual([1, 1]);
    await Promise.all([left.close(), right.close()]);
    const third = closing(createEngine({ store: sqliteStore(path) }));
    expect(await first(third)).toBe("d0");
    expect(await replay(third)).toMatchObject({ identical: true });
    expect(await third.status()).toMatchObject({ revocations: 1, outcomes: { user: 0 } });
  });
});
