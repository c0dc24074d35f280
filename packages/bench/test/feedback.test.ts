import {
  createWorld,
  DATASETS,
  loadDataset,
  type Request,
  reports,
  type Scenario,
  type Split,
  splitDataset,
  USED_RATES,
  used,
  VOTE_RATES,
  votes,
  type World,
} from "@qavr/lab";
import { beforeAll, describe, expect, it } from "vitest";
import { SCENARIOS } from "../src/learning/scenarios.js";

let split: Split;
let world: World;
beforeAll(async () => {
  split = splitDataset(await loadDataset("banking77"), DATASETS.banking77);
  world = createWorld(split, 1);
});

const worldOf = (scenario: Scenario): World => createWorld(split, 1, scenario);
const share = (many: readonly unknown[], of: readonly unknown[]): number => many.length / of.length;
const truth = (request: Request, shown: readonly string[]): boolean => world.succeeds(request, shown);

/** Requests of the stream, each with the lessons of its need that have a quality. */
const showings = (quality: string): readonly (readonly [Request, string])[] =>
  world.stream.flatMap((request) =>
    world.lessons
      .filter(({ id, need }) => need === request.needs[0] && world.truthAt(0).quality(id) === quality)
      .map(({ id }) => [request, id] as const),
  );

describe("votes", () => {
  it.each(["helpful", "misleading"] as const)("come at their rates for a %s memory of the need", (quality) => {
    const all = showings(quality);
    const cast = all.map(([request, lesson]) => votes(world, request, [lesson]));
    expect(
      share(
        cast.filter((vote) => vote.helpful.length > 0),
        all,
      ),
    ).toBeCloseTo(VOTE_RATES[quality].helpful, 1.5);
    expect(
      share(
        cast.filter((vote) => vote.harmful.length > 0),
        all,
      ),
    ).toBeCloseTo(VOTE_RATES[quality].harmful, 1.5);
  });

  it("fall on a memory of another need as seldom, whatever it does for its own", () => {
    const foreign = world.stream.map((request) => {
      const other = world.lessons.find(({ need }) => need !== request.needs[0])?.id as string;
      return votes(world, request, [other]);
    });
    const praised = foreign.filter((vote) => vote.helpful.length > 0);
    const blamed = foreign.filter((vote) => vote.harmful.length > 0);
    expect(share(praised, foreign)).toBeCloseTo(VOTE_RATES.other.helpful, 1.5);
    expect(share(blamed, foreign)).toBeCloseTo(VOTE_RATES.other.harmful, 1.5);
  });

  it("belong to the request and the memory: rankers that show it elsewhere in the list hear the same", () => {
    const shown = world.lessons.slice(0, 5).map(({ id }) => id);
    for (const request of world.stream.slice(0, 100)) {
      const there = votes(world, request, shown);
      const back = votes(world, request, [...shown].reverse());
      expect([...back.helpful].reverse()).toEqual(there.helpful);
      expect([...back.harmful].reverse()).toEqual(there.harmful);
    }
  });
});

describe("what a run is seen to use", () => {
  it("is its own need's memories mostly and others now and then, whether they help or not", () => {
    const own = showings("misleading");
    expect(
      share(
        own.filter(([request, lesson]) => used(world, request, [lesson]).length > 0),
        own,
      ),
    ).toBeCloseTo(USED_RATES.seen.own, 1.5);
  });
});

describe("reports of a world without sources", () => {
  it("are one verified outcome per run: the truth", () => {
    for (const request of world.stream.slice(0, 200)) {
      expect(reports(world, request, [])).toEqual([
        { success: truth(request, []), tier: "verified", source: "checker" },
      ]);
    }
  });

  it("do not depend on what was shown when outcomes are coin tosses, and are as often good as bad", () => {
    const tossed = worldOf(SCENARIOS["coin-toss"].settings);
    const said = tossed.stream.map((request) => {
      const help = tossed.truthAt(0).helpful(request.needs[0] as number);
      const withHelp = reports(tossed, request, help);
      expect(reports(tossed, request, [])).toEqual(withHelp);
      return withHelp[0]?.success;
    });
    expect(share(said.filter(Boolean), said)).toBeCloseTo(0.5, 1.5);
  });

  it("are the opposite of the truth while outcomes are inverted, and the truth from then on", () => {
    const inverted = worldOf(SCENARIOS["inverted-600"].settings);
    for (const request of inverted.stream) {
      expect(reports(inverted, request, [])[0]?.success).toBe(truth(request, []) !== request.number < 600);
    }
  });
});

describe("reports of sources", () => {
  const claims = (told: World): { request: Request; success: boolean; source: string }[] =>
    told.stream.flatMap((request) =>
      reports(told, request, [])
        .filter(({ tier }) => tier === "user")
        .map(({ success, source }) => ({ request, success, source })),
    );

  it("are claims of ten sources on 70 % of the runs and, independently, a verified truth on 7 %, which comes last", () => {
    const told = worldOf(SCENARIOS["sources-all-lie"].settings);
    const all = told.stream.map((request) => reports(told, request, []));
    const claimed = all.filter(([first]) => first?.tier === "user");
    const verified = all.filter((list) => list.at(-1)?.tier === "verified");
    const both = all.filter((list) => list.length === 2);
    expect(share(claimed, all)).toBeCloseTo(0.7, 1.5);
    expect(share(verified, all)).toBeCloseTo(0.07, 1.5);
    expect(share(both, all)).toBeCloseTo(0.049, 1.5);
    expect(both.every(([first, second]) => first?.tier === "user" && second?.tier === "verified")).toBe(true);
    expect(new Set(claims(told).map(({ source }) => source)).size).toBe(10);
    for (const request of told.stream) {
      for (const { success, tier } of reports(told, request, [])) {
        expect(success).toBe(tier === "verified" ? truth(request, []) : !truth(request, []));
      }
    }
  });

  it("lie by source: five always, five never", () => {
    const lies = new Map<string, Set<boolean>>();
    for (const { request, success, source } of claims(worldOf(SCENARIOS["sources-half-lie"].settings))) {
      lies.set(source, (lies.get(source) ?? new Set()).add(success !== truth(request, [])));
    }
    expect([...lies.values()].every((kinds) => kinds.size === 1)).toBe(true);
    expect([...lies.values()].filter((kinds) => kinds.has(true))).toHaveLength(5);
  });

  it("turn at their time", () => {
    const wrong = claims(worldOf(SCENARIOS["sources-half-turn"].settings))
      .filter(({ request, success }) => success !== truth(request, []))
      .map(({ request }) => request.number);
    expect(Math.min(...wrong)).toBeGreaterThanOrEqual(800);
    expect(wrong.length).toBeGreaterThan(500);
  });

  it("err at their rate", () => {
    const all = claims(worldOf(SCENARIOS["sources-10-wrong"].settings));
    const wrong = all.filter(({ request, success }) => success !== truth(request, []));
    expect(share(wrong, all)).toBeCloseTo(0.1, 1.5);
  });
});
