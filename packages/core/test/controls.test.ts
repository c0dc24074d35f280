import { describe, expect, it } from "vitest";
import { type Learner, memoryStore, oar, type Store } from "../src/index.js";
import type { OarShared } from "../src/learners/oar/state.js";
import { decodeEvent } from "../src/ledger/event-codec.js";
import type { ExposureDraw } from "../src/ledger/events.js";
import { exportState, replay, verify } from "../src/maintenance/index.js";
import { ids, oneRun, request, testEngine } from "./support/test-engine.js";

const noise = (run: number): number => ((Math.imul(run + 1, 0x9e3779b9) >>> 0) % 1000) / 1000;

/** Lets an engine live through runs whose success depends on the memories shown. Returns whether each was held out. */
async function live(
  engine: ReturnType<typeof testEngine>["engine"],
  runs: number,
  chance: (shown: readonly string[]) => number,
): Promise<boolean[]> {
  const held: boolean[] = [];
  for (let run = 0; run < runs; run++) {
    const angle = (run % 6) * 1.1;
    const ranking = await engine.rank(request({ vector: [Math.cos(angle), Math.sin(angle), 0.2, 0] }));
    held.push(ranking.heldOut === true);
    await engine.end(ranking.episode, { reward: noise(run) < chance(ids(ranking)) });
  }
  return held;
}

/** Together they help, one of them alone misleads; a model of single memories cannot say so. */
const bothHelp = (shown: readonly string[]): number =>
  [0.5, 0.3, 0.8][shown.filter((id) => id === "d0" || id === "d1").length] as number;
const d0Misleads = (shown: readonly string[]): number => (shown.includes("d0") ? 0.15 : 0.9);

/** The draws of order that a ledger recorded. */
async function drawnIn(store: Store): Promise<ExposureDraw[]> {
  const drawn: ExposureDraw[] = [];
  for (const { type, payload } of await store.readEntries("default", { after: 0, limit: 10_000 })) {
    const event = decodeEvent(type, payload);
    if (event.type === "exposure") drawn.push(...event.exposures.flatMap(({ holdout }) => holdout ?? []));
  }
  return drawn;
}

describe("control runs", () => {
  it("begin after 300 outcomes, and end where learning helps", async () => {
    const { engine } = testEngine();
    const held = await live(engine, 1_500, d0Misleads);
    expect(held.slice(0, 300)).not.toContain(true);
    expect(held.slice(300)).toContain(true);
    expect(held.slice(-200).filter(Boolean).length).toBeLessThan(10);
    const { items, order } = await engine.rank(request({ record: false, vector: [1, 0, 0.2, 0] }));
    expect(order).toBe("learned");
    expect(items.map(({ id }) => id)).not.toContain("d0");
    expect((await engine.status()).lift?.episodes.holdout).toBeGreaterThan(0);
  });

  it("become the rule where the host's list is better than the learned one", async () => {
    const { engine } = testEngine();
    const held = await live(engine, 1_000, bothHelp);
    expect(held.slice(-300).filter(Boolean).length).toBeGreaterThan(200);
    expect((await engine.rank(request({ record: false, vector: [1, 0, 0.2, 0] }))).order).toBe("host");
  });

  it("are as many as the learner asks, and a preview shows the order of most runs", async () => {
    const asking = (hostShare: number): Learner => {
      const learner = oar() as Learner;
      return { ...learner, score: (asked) => ({ ...learner.score(asked), hostShare }) };
    };
    const store = memoryStore();
    await live(testEngine({ store, prefix: "past", holdout: 0 }).engine, 320, d0Misleads);
    const most = testEngine({ store, learner: asking(0.9) }).engine;
    const few = testEngine({ store, learner: asking(0.1), prefix: "few" }).engine;
    const preview = request({ record: false, vector: [1, 0, 0.2, 0] });
    expect(await most.rank(preview)).toMatchObject({
      order: "host",
      items: [{ id: "d0" }, { id: "d1" }, { id: "d2" }],
    });
    expect(await few.rank(preview)).toMatchObject({ order: "learned" });
    const held = await live(most, 200, d0Misleads);
    expect(Math.abs(held.filter(Boolean).length - 180)).toBeLessThan(17);
    const fixed = testEngine({ store, learner: asking(0.9), prefix: "fixed", holdout: 0 }).engine;
    expect(await fixed.rank(preview)).toMatchObject({ order: "learned" });
  });

  it("are none with a holdout of 0, and none where the host's similarities never differ", async () => {
    expect(await live(testEngine({ holdout: 0 }).engine, 400, d0Misleads)).not.toContain(true);
    const { engine } = testEngine();
    for (let run = 0; run < 400; run++) {
      const candidates = Array.from({ length: 10 }, (_, i) => ({ id: `d${i}`, similarity: 0.5 }));
      const ranking = await engine.rank(request({ candidates }));
      expect(ranking.heldOut).toBeUndefined();
      await engine.end(ranking.episode, { reward: noise(run) < d0Misleads(ids(ranking)) });
    }
  });

  it("are recorded with their share and the advantage, and replayed alike", async () => {
    const store = memoryStore();
    const { engine } = testEngine({ store });
    await live(engine, 1_000, bothHelp);
    const drawn = await drawnIn(store);
    expect(drawn.length).toBeGreaterThan(50);
    for (const { share, advantage } of drawn) {
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThanOrEqual(Math.fround(0.9));
      expect(Math.abs(advantage)).toBeLessThanOrEqual(1);
    }
    expect(drawn.some(({ advantage }) => advantage > 0.05)).toBe(true);
    expect(await replay(engine)).toMatchObject({ identical: true });
    expect(await verify(engine)).toMatchObject({ ok: true });
  });

  it("learn nothing from a request that keeps the host's order", async () => {
    const advantagesOf = async (keepOrder: boolean): Promise<number[]> => {
      const store = memoryStore();
      await live(testEngine({ store, prefix: "past", holdout: 0 }).engine, 320, d0Misleads);
      const { engine } = testEngine({ store, holdout: 0.5 });
      for (let run = 0; run < 20; run++) {
        await oneRun(engine, request({ vector: [1, 0, 0.2, 0], keepOrder }), { reward: true });
      }
      return (await drawnIn(store)).map(({ advantage }) => advantage);
    };
    expect(Math.min(...(await advantagesOf(false)))).toBeGreaterThan(0.01);
    expect(await advantagesOf(true)).toEqual(new Array(20).fill(0));
  });

  it("are taken back and counted again with a corrected outcome", async () => {
    const stores = [memoryStore(), memoryStore()];
    const statuses = [];
    const sums: OarShared[] = [];
    for (const [corrected, store] of stores.entries()) {
      const { engine } = testEngine({ store });
      for (let run = 0; run < 400; run++) {
        const angle = (run % 6) * 1.1;
        const ranking = await engine.rank(request({ vector: [Math.cos(angle), Math.sin(angle), 0.2, 0] }));
        const reward = noise(run) < d0Misleads(ids(ranking));
        if (corrected === 1 && run === 399) {
          await engine.end(ranking.episode, { reward: !reward, tier: "completed" });
          await engine.report(ranking.episode, { reward, tier: "verified" });
        } else await engine.end(ranking.episode, { reward, tier: "verified" });
      }
      statuses.push((await engine.status()).collections[0]?.learner as Record<string, number>);
      sums.push((await exportState(engine)).shared as OarShared);
    }
    const [once, twice] = sums as [OarShared, OarShared];
    expect(once.squares).toBeGreaterThan(0.1);
    for (const name of ["heldSquares", "heldProducts", "squares", "products"] as const) {
      expect(Math.abs(twice[name] - once[name])).toBeLessThan(1e-6);
    }
    const [plain, corrected] = statuses as [Record<string, number>, Record<string, number>];
    for (const [name, value] of Object.entries(plain)) expect(corrected[name]).toBeCloseTo(value, 4);
  });
});
