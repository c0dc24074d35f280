import { type Learner, QavrError } from "@qavr/core";
import { MAX_DIMS } from "@qavr/core/learner";
import { STORE_LIMITS } from "@qavr/core/store";
import { describe, expect, it } from "vitest";
import {
  counting,
  type Promises,
  readingOnly,
  sequential,
  testLearner,
} from "../../core/test/support/learner-suite.js";
import * as learners from "../src/index.js";

/** Every learner of the package, in every variant that learns or ranks by another formula. */
const LEARNERS: readonly (readonly [name: string, create: () => unknown, promises: Promises])[] = [
  ["cav", () => learners.cav(), sequential],
  ["jar", () => learners.jar({ revisits: 3 }), { ...sequential, correction: "later" }],
  ["jar, guard", () => learners.jar({ setting: "guard", revisits: 0 }), sequential],
  ["oar1", () => learners.oar1(), sequential],
  ["oar1, guard", () => learners.oar1({ setting: "guard" }), { ...sequential, gains: false }],
  ["grouped", () => learners.grouped(), sequential],
  ["byUse", () => learners.byUse(), sequential],
  ["successRate", () => learners.successRate(), counting],
  ["reinforcement", () => learners.reinforcement(), readingOnly],
  ["timeWeighted", () => learners.timeWeighted(), readingOnly],
  // The published constants are too timid to gain reliably.
  ["score10", () => learners.score10(), { ...sequential, gains: false }],
  ["score10, wide", () => learners.score10({ helpful: 10, harmful: -10, rate: 0.2, recencyWeight: 0 }), sequential],
  ["memrl", () => learners.memrl(), sequential],
  ["beta, mean", () => learners.beta(), counting],
  ["beta, ucb", () => learners.beta({ policy: "ucb" }), counting],
  ["beta, thompson", () => learners.beta({ policy: "thompson" }), counting],
  ["globalAdvantage", () => learners.globalAdvantage(), sequential],
  ["jointLogistic", () => learners.jointLogistic(), sequential],
  ["jointReplay", () => learners.jointReplay({ revisits: 3 }), { ...sequential, correction: "later" }],
  ["rocchio", () => learners.rocchio(), sequential],
  ["rocchio, reward", () => learners.rocchio({ feedback: "reward" }), sequential],
  ["kernelPrototypes", () => learners.kernelPrototypes({ prototypes: 2 }), sequential],
  ["contexts", () => learners.contexts({ contexts: 3 }), sequential],
];

for (const learner of LEARNERS) testLearner(...learner);

it("every learner that the package exports passes this suite, and has an id of its own", () => {
  const { formatSeedState: _, parseSeedState: __, unreachableScores: ___, ...creators } = learners;
  const tested = new Set(LEARNERS.map(([name]) => name.split(",")[0]));
  expect(tested).toEqual(new Set(Object.keys(creators)));
  const ids = Object.values(creators).map((create) => (create() as Learner).id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z0-9-]+@1$/);
});

describe("a learner's settings", () => {
  const refused: readonly (readonly [string, () => unknown])[] = [
    ["successRate: rateWeight", () => learners.successRate({ rateWeight: 1.1 })],
    ["successRate: initialRate", () => learners.successRate({ initialRate: Number.NaN })],
    ["reinforcement: growth", () => learners.reinforcement({ growth: -0.1 })],
    ["reinforcement: initialConfidence", () => learners.reinforcement({ initialConfidence: 2 })],
    ["reinforcement: confidenceWeight", () => learners.reinforcement({ confidenceWeight: "0.3" as never })],
    ["timeWeighted: decayRate", () => learners.timeWeighted({ decayRate: 1.5 })],
    ["score10: rate", () => learners.score10({ rate: 0 })],
    ["score10: helpful", () => learners.score10({ helpful: 11 })],
    ["score10: halfLifeDays", () => learners.score10({ halfLifeDays: 0 })],
    ["score10: learnFromRewards", () => learners.score10({ learnFromRewards: 1 as never })],
    ["memrl: candidates", () => learners.memrl({ candidates: 0 })],
    ["memrl: failure", () => learners.memrl({ failure: -2 })],
    ["memrl: threshold", () => learners.memrl({ threshold: Number.NaN })],
    ["beta: policy", () => learners.beta({ policy: "epsilon" as never })],
    ["beta: shrinkage", () => learners.beta({ shrinkage: 0 })],
    ["globalAdvantage: weight", () => learners.globalAdvantage({ weight: -1 })],
    ["jointLogistic: rate", () => learners.jointLogistic({ rate: 2 })],
    ["jointReplay: weight", () => learners.jointReplay({ weight: -1 })],
    ["jointReplay: revisits", () => learners.jointReplay({ revisits: 101 })],
    ["rocchio: feedback", () => learners.rocchio({ feedback: "votes" as never })],
    ["kernelPrototypes: prototypes", () => learners.kernelPrototypes({ prototypes: 65 })],
    ["contexts: contexts", () => learners.contexts({ contexts: 0.5 })],
    ["contexts: weight", () => learners.contexts({ weight: 1e308 })],
  ];

  it.each(refused)("refuses an illegal %s by its name", (option, create) => {
    let thrown: unknown;
    try {
      create();
    } catch (error) {
      thrown = error;
    }
    expect(QavrError.isInstance(thrown, "INVALID_ARGUMENT")).toBe(true);
    expect((thrown as Error).message).toContain(`${option} must be`);
  });

  it("keeps the largest states that they allow within what a store takes", () => {
    const vector = new Float32Array(MAX_DIMS).fill(1);
    const kinds = Array.from({ length: 250 }, () => ({ centre: vector, requests: 1, logit: 0 }));
    const prototypes = Array.from({ length: 64 }, (_, key) => ({ key, sum: 0, evidence: 1, requests: vector }));
    const sizes = [
      learners.contexts({ contexts: 250 }).shared.encode({ bias: 0, spread: 0, spreadCount: 0, contexts: kinds }, 0),
      learners.kernelPrototypes({ prototypes: 64 }).memory.encode({ sum: 0, evidence: 64, prototypes }, 0),
    ].map((bytes) => bytes.length);
    // The names of learner and space precede a state.
    for (const size of sizes) expect(size + 2_048).toBeLessThan(STORE_LIMITS.payloadBytes);
    expect(sizes[0]).toBeGreaterThan(250 * MAX_DIMS * 4);
  });
});
