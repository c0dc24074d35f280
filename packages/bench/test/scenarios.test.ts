import {
  createWorld,
  DATASETS,
  type DatasetName,
  judge,
  loadDataset,
  type Split,
  splitDataset,
  type World,
} from "@qavr/lab";
import { beforeAll, describe, expect, it } from "vitest";
import { worldOf } from "../src/learning/run-job.js";
import { SCENARIOS } from "../src/learning/scenarios.js";

const splitOf = async (name: DatasetName): Promise<Split> => splitDataset(await loadDataset(name), DATASETS[name]);

let banking: Split;
let hotels: Split;
let tools: Split;
beforeAll(async () => {
  [banking, hotels, tools] = await Promise.all([splitOf("banking77"), splitOf("nlupp-hotels"), splitOf("sealtools")]);
});

describe("a world that drifts", () => {
  it("redraws the qualities of about half of the needs at its time, and nothing else", () => {
    const world = createWorld(banking, 1, SCENARIOS.drift.settings);
    const still = createWorld(banking, 1);
    expect(world.stream).toEqual(still.stream);
    expect(world.heldOut).toEqual(still.heldOut);
    const qualities = (run: number, of: World): string[] => of.lessons.map(({ id }) => of.truthAt(run).quality(id));
    expect(qualities(1499, world)).toEqual(qualities(0, still));
    const [before, after] = [qualities(1499, world), qualities(1500, world)];
    const changed = new Set(world.lessons.filter((_, place) => before[place] !== after[place]).map(({ need }) => need));
    // A redrawn need looks the same in about one case in twelve.
    expect(changed.size / banking.needs).toBeGreaterThan(0.33);
    expect(changed.size / banking.needs).toBeLessThan(0.6);
    for (let need = 0; need < banking.needs; need++) {
      expect(world.truthAt(1500).helpful(need).length).toBeGreaterThan(0);
    }
  });
});

describe("skewed traffic", () => {
  it("asks the r-th need in proportion to 1 / r^1.1 and holds out what the plain world does", () => {
    const world = createWorld(banking, 1, SCENARIOS.zipf.settings);
    const plain = createWorld(banking, 1);
    const counts = new Map<number, number>();
    for (const { needs } of world.stream) counts.set(needs[0] as number, (counts.get(needs[0] as number) ?? 0) + 1);
    const ranked = [...counts.values()].sort((a, b) => b - a);
    expect(world.stream).toHaveLength(3000);
    expect((ranked[0] as number) / (ranked[9] as number)).toBeCloseTo(10 ** 1.1, -1);
    expect(new Set(world.heldOut.map(({ needs }) => needs[0]))).toEqual(
      new Set(plain.heldOut.map(({ needs }) => needs[0])),
    );
    expect(world.lessons.map(({ id }) => world.truthAt(0).quality(id))).toEqual(
      plain.lessons.map(({ id }) => plain.truthAt(0).quality(id)),
    );
  });
});

describe("worlds that differ only in what is reported", () => {
  it.each(["flips-30", "coin-toss", "scores", "inverted", "sources-half-lie"] as const)(
    "%s shares everything else",
    (name) => {
      const [one, other] = [createWorld(banking, 3), createWorld(banking, 3, SCENARIOS[name].settings)];
      expect(other.stream).toEqual(one.stream);
      expect(other.heldOut).toEqual(one.heldOut);
      for (const request of one.stream.slice(0, 100)) {
        const shown = one.lessons.slice(0, 5).map(({ id }) => id);
        expect(other.succeeds(request, shown)).toBe(one.succeeds(request, shown));
      }
    },
  );
});

describe("a small set", () => {
  it("has no background; 35 % of its texts are held out", () => {
    expect(hotels.background).toHaveLength(0);
    expect(hotels.heldOut).toHaveLength(Math.floor(0.35 * 725));
    expect(tools.heldOut).toHaveLength(Math.floor(0.35 * 2054));
  });

  it("keeps the description of each need and up to two requests with this need alone", async () => {
    const { needs, texts } = await loadDataset("nlupp-hotels");
    const about = new Map(texts.map((text) => [text.text, text.needs]));
    for (let need = 0; need < hotels.needs; need++) {
      const [first, ...cases] = hotels.lessons.filter((lesson) => lesson.need === need);
      expect(first?.text).toBe(needs[need]?.text);
      expect(cases.length).toBeLessThanOrEqual(2);
      for (const { text } of cases) expect(about.get(text)).toEqual([need]);
    }
    const asked = new Set(hotels.stream.map(({ text }) => text));
    expect(hotels.lessons.some(({ text }) => asked.has(text))).toBe(false);
  });

  it("asks each request of sealtools once and ends there, since rare needs are what the set is about", () => {
    const { stream } = worldOf({ set: "sealtools", scenario: "main", seed: 1 }, tools);
    expect(stream).toHaveLength(1336);
    expect(new Set(stream).size).toBe(1336);
  });

  it("has one memory per tool in sealtools, and each of them helps", () => {
    expect(tools.lessons).toHaveLength(4076);
    const world = createWorld(tools, 1, { unseen: 0 });
    expect(world.lessons.every(({ id }) => world.truthAt(0).quality(id) === "helpful")).toBe(true);
    expect(world.heldOutUnseen).toHaveLength(0);
  });
});

describe("a request with several needs", () => {
  it("succeeds in between, by the share of needs that are helped", () => {
    const world = createWorld(hotels, 1);
    const truth = world.truthAt(0);
    const request = world.stream.find(
      ({ needs }) => needs.length === 2 && needs.every((need) => truth.helpful(need).length > 0),
    ) as World["stream"][number];
    const [a, b] = request.needs as [number, number];
    const [one] = truth.helpful(a) as [string];
    const [other] = truth.helpful(b) as [string];
    const average = (key: "aided" | "unaided"): number => (world.difficulty(a)[key] + world.difficulty(b)[key]) / 2;
    const [none, half, both] = [[], [one], [one, other]].map((shown) => truth.trueProbability(request.needs, shown));
    expect(none).toBeCloseTo(average("unaided"), 12);
    expect(both).toBeCloseTo(average("aided"), 12);
    expect(half).toBeCloseTo((average("unaided") + average("aided")) / 2, 12);
    const all = truth.helpful(a).length + truth.helpful(b).length;
    expect(judge(world, request, [one, other]).recall).toBeCloseTo(2 / Math.min(all, 5), 12);
    expect(judge(world, request, [...truth.helpful(a), ...truth.helpful(b)]).ndcg).toBeCloseTo(1, 12);
    expect(judge(world, request, [one]).success).toBe(half);
    // With one place to show, one helpful memory is all there is to recall.
    expect(judge(createWorld(hotels, 1, { k: 1 }), request, [one]).recall).toBe(1);
  });

  it("is held out as unseen as soon as one of its needs never occurs in the stream", () => {
    const world = createWorld(hotels, 1);
    const asked = new Set(world.stream.flatMap(({ needs }) => needs));
    const unseen = world.heldOutUnseen.filter(({ needs }) => needs.some((need) => !asked.has(need)));
    expect(unseen.length).toBeGreaterThan(0);
    expect(unseen).toHaveLength(world.heldOutUnseen.length);
    expect(world.heldOut.length).toBeGreaterThan(0);
  });
});
