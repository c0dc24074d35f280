import { createEngine, type Learner, memoryStore, oar } from "@qavr/core";
import { HASHED_DIMS, type Lesson } from "@qavr/core/learner";
import { createWorld, loadCorpus, reports, type Split, type World } from "@qavr/lab";
import { beforeAll, describe, expect, it } from "vitest";
import type { CreateArm } from "../src/learning/arm.js";
import { type EngineArmOptions, engineArm } from "../src/learning/engine-arm.js";
import { CHECKPOINTS, runTrial, type Trial } from "../src/learning/protocol.js";
import { DEFAULT_ROW, ROWS, type Row } from "../src/learning/rows.js";
import { runJob } from "../src/learning/run-job.js";
import { timeWeightedArm } from "../src/learning/time-weighted-arm.js";
import { type Retrieval, retrieve } from "../src/retrieval/retrieval.js";

let split: Split;
let retrieval: Retrieval;
let world: World;
/** Of all rows twice. */
let short: World;
beforeAll(async () => {
  const corpus = await loadCorpus("nlupp-hotels");
  split = corpus.split;
  retrieval = await retrieve(corpus);
  world = createWorld(split, 1, { runs: 160, heldOut: 40 });
  short = createWorld(split, 1, { runs: 60, heldOut: 20 });
});

const rowNamed = (name: string): Row => ROWS.find((row) => row.name === name) as Row;
const trial = (name: string, of: World = world): Promise<Trial> => runTrial(of, retrieval, rowNamed(name).createArm);

describe("a trial", () => {
  it.each(ROWS.map((row) => row.name))("of %s gives the same numbers again", async (name) => {
    expect(await trial(name, short)).toEqual(await trial(name, short));
  });

  it("judges at the fixed checkpoints and after the last run", async () => {
    const { checkpoints } = await trial("similarity");
    expect(checkpoints.map(({ runs }) => runs)).toEqual([...CHECKPOINTS.filter((runs) => runs < 160), 160]);
  });

  it("starts every learner as similarity and lets similarity stand still", async () => {
    const plain = await trial("similarity");
    const lists = plain.checkpoints.map(({ runs: _, ...judgement }) => judgement);
    for (const judgement of lists) expect(judgement).toEqual(lists[0]);
    const first: (readonly string[])[] = [];
    for (const name of ["similarity", DEFAULT_ROW]) {
      await runTrial(createWorld(split, 1, { runs: 1 }), retrieval, spied(rowNamed(name).createArm, first));
    }
    expect(first[0]).toEqual(first[1]);
  });

  it("judges by the truth of the time: what similarity shows is worth something else once the world has drifted", async () => {
    const { checkpoints } = await trial("similarity", createWorld(split, 1, { runs: 160, heldOut: 40, driftAt: 100 }));
    const still = (await trial("similarity")).checkpoints;
    for (const [place, { runs, success }] of checkpoints.entries()) {
      if (runs < 100) expect(success).toBe(still[place]?.success);
      else expect(success).not.toBe(still[place]?.success);
    }
  });

  it("leaves no trace by judging: what is shown does not depend on how many requests are held out", async () => {
    for (const name of [DEFAULT_ROW, "langchain-time-weighted"]) {
      const [few, many]: (readonly string[])[][] = [[], []];
      const { createArm } = rowNamed(name);
      await runTrial(createWorld(split, 1, { runs: 160, heldOut: 1 }), retrieval, spied(createArm, few ?? []));
      await runTrial(createWorld(split, 1, { runs: 160, heldOut: 200 }), retrieval, spied(createArm, many ?? []));
      expect(few).toHaveLength(160);
      expect(few).toEqual(many);
    }
  });

  it("tells what a learner was told: another world's outcomes lead elsewhere", async () => {
    const [honest, tossed]: (readonly string[])[][] = [[], []];
    const { createArm } = rowNamed(DEFAULT_ROW);
    const long = { runs: 400, heldOut: 1 };
    await runTrial(createWorld(split, 1, long), retrieval, spied(createArm, honest ?? []));
    await runTrial(createWorld(split, 1, { ...long, coinToss: true }), retrieval, spied(createArm, tossed ?? []));
    expect(honest?.[0]).toEqual(tossed?.[0]);
    expect(honest).not.toEqual(tossed);
  });

  it("ranks with k memories shown, of the world's own", async () => {
    const shown: (readonly string[])[] = [];
    const three = createWorld(split, 1, { runs: 60, heldOut: 5, k: 3 });
    for (const name of [DEFAULT_ROW, "langchain-time-weighted"]) {
      await runTrial(three, retrieval, spied(rowNamed(name).createArm, shown));
    }
    const ids = new Set(split.lessons.map(({ id }) => id));
    expect(shown.every((list) => new Set(list).size === 3 && list.every((id) => ids.has(id)))).toBe(true);
  });
});

describe("a job", () => {
  it("says which trial failed", async () => {
    const job = { row: "nobody", set: "nlupp-hotels", scenario: "main", seed: 1 } as const;
    await expect(runJob(job)).rejects.toThrow(/nobody/);
  });
});

describe("the rows", () => {
  it("have names of their own", () => {
    expect(new Set(ROWS.map((row) => row.name)).size).toBe(ROWS.length);
  });

  it("name the engine's own default learner as the default", async () => {
    const engine = createEngine({ store: memoryStore() });
    expect(engine.learner.id.split("@")[0]).toBe(DEFAULT_ROW);
    await engine.close();
  });
});

describe("an arm of an engine", () => {
  /** A learner that notes what reaches it. */
  const listener = (
    heard: Lesson<unknown, unknown>[],
    vectors: (readonly number[] | undefined)[] = [],
  ): (() => Learner) => {
    const learner = oar() as Learner;
    return () => ({
      ...learner,
      score(request) {
        vectors.push(request.vector && [...request.vector]);
        return learner.score(request);
      },
      learn(lesson) {
        heard.push(lesson);
        return learner.learn(lesson);
      },
    });
  };
  const hear = async (of: World, options: Omit<EngineArmOptions, "learner">): Promise<Lesson<unknown, unknown>[]> => {
    const heard: Lesson<unknown, unknown>[] = [];
    await runTrial(of, retrieval, (there) => engineArm(there, { learner: listener(heard), ...options }));
    return heard;
  };

  it("teaches every run once, with votes and use only where the row has them", async () => {
    const votes = (lessons: readonly Lesson<unknown, unknown>[]): number[] =>
      lessons.flatMap(({ exposures }) => exposures.flatMap(({ shown }) => shown.map(({ vote }) => vote)));
    const uses = (lessons: readonly Lesson<unknown, unknown>[]): (boolean | undefined)[] =>
      lessons.flatMap(({ exposures }) => exposures.flatMap(({ shown }) => shown.map((one) => one.used)));
    const [plain, voted, seen] = [
      await hear(world, {}),
      await hear(world, { votes: true }),
      await hear(world, { used: "seen" }),
    ];
    expect(plain).toHaveLength(160);
    expect(new Set(votes(plain))).toEqual(new Set([0]));
    expect(new Set(uses(plain))).toEqual(new Set([undefined]));
    expect(new Set(votes(voted))).toEqual(new Set([-1, 0, 1]));
    expect(new Set(uses(seen))).toEqual(new Set([true, false]));
  });

  it("hears of a run twice when a claim is verified later, never of one without a report, and only what it listens to", async () => {
    const told = createWorld(split, 1, {
      runs: 160,
      heldOut: 1,
      sources: { count: 10, claimed: 0.7, verified: 0.2, liars: 0, lyingFrom: 0, error: 0 },
    });
    const said = told.stream.map((request) => reports(told, request, []).map(({ tier }) => tier));
    const everything = await hear(told, {});
    const verified = await hear(told, { hears: ({ tier }) => tier === "verified" });
    expect(everything).toHaveLength(said.flat().length);
    expect(everything.filter(({ first }) => !first)).toHaveLength(said.filter((tiers) => tiers.length === 2).length);
    expect(verified).toHaveLength(said.flat().filter((tier) => tier === "verified").length);
  });

  it("asks with the host's vector, with a long one, which the engine projects, or with the text alone, which it hashes", async () => {
    const asked = async (vector: "embedding" | "wide" | "text"): Promise<(readonly number[] | undefined)[]> => {
      const vectors: (readonly number[] | undefined)[] = [];
      const few = createWorld(split, 1, { runs: 3, heldOut: 1 });
      await runTrial(few, retrieval, (there) => engineArm(there, { learner: listener([], vectors), vector }));
      return vectors;
    };
    const embedded = (await asked("embedding")).at(-1);
    const projected = (await asked("wide")).at(-1);
    const hashed = (await asked("text")).at(-1);
    expect(embedded).toHaveLength(256);
    expect(projected).toHaveLength(512);
    expect(hashed).toHaveLength(HASHED_DIMS);
    expect(hashed).not.toEqual(embedded);
  });

  it("fails loudly when the engine complains, since its numbers would be wrong", async () => {
    const broken = (): Learner => ({
      ...(oar() as Learner),
      createTable() {
        throw new Error("there is no table");
      },
    });
    const arm = engineArm(world, { learner: broken });
    const [request] = world.stream as [World["stream"][number]];
    const { vector, candidates } = retrieval.find(request.text);
    const named = candidates.map(({ lesson, similarity }) => ({ id: `m${lesson}`, similarity }));
    const asked = { request, vector, candidates: named };
    await expect(arm.show(asked)).rejects.toThrow(/The engine complains: .*there is no table/);
    await arm.close();
  });
});

describe("LangChain's time-weighted retriever", () => {
  it("prefers what it returned lately over what it did not, by its own clock", async () => {
    const arm = await timeWeightedArm(world);
    const [request] = world.stream as [World["stream"][number]];
    const candidates = world.lessons.slice(0, 20).map(({ id, text }) => ({ id, text, similarity: 0.5 }));
    const asked = { request, vector: new Float32Array(256), candidates };
    const first = await arm.show(asked);
    for (let run = 0; run < 40; run++) await arm.learn(asked, first);
    // Ten hours later only what was returned has kept its freshness.
    expect(new Set(await arm.preview(asked))).toEqual(new Set(first));
    await arm.close();
  });
});

/** The same arm, its lists noted down. */
function spied(createArm: CreateArm, into: (readonly string[])[]): CreateArm {
  return async (of) => {
    const arm = await createArm(of);
    return {
      ...arm,
      show: async (asked) => {
        const shown = await arm.show(asked);
        into.push(shown);
        return shown;
      },
    };
  };
}
