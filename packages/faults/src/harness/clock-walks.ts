import { createEngine, type Learner, memoryStore, oar } from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { compact, replay, verify } from "@qavr/core/maintenance";
import { seededRandom } from "@qavr/lab";
import { type CheckResult, type Harness, mutantResult } from "./check.js";

const WALKS = { quick: 30, full: 1_000 } as const;
const RUNS = 30;
/** Walks after which the mutant counts as missed. */
const TIMEOUT = 20;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Steps seen in real clocks: none, backwards, jumps of days or a decade. */
const STEPS = [0, 0, 1, 1_000, -1_000, HOUR, -HOUR, 3 * DAY, -3 * DAY, 40 * DAY, 3_650 * DAY, -3_650 * DAY];

/** One life under a clock that lies. Undefined when every promise held. */
async function walk(seed: number, learner: Learner): Promise<string | undefined> {
  const random = seededRandom(seed);
  const clock = { now: 1_767_225_600_000 };
  const store = memoryStore();
  const engine = createEngine({
    store,
    learner,
    clock: () => clock.now,
    governance: governance({ trust: "audited", sourceCaps: { weight: 3, window: DAY } }),
    maxOpenEpisodes: 5,
  });
  const open: string[] = [];
  for (let run = 0; run < RUNS; run++) {
    clock.now += STEPS[Math.floor(random() * STEPS.length)] as number;
    const candidates = Array.from({ length: 6 }, (_, i) => ({ id: `m${i}`, similarity: 0.9 - i / 10 }));
    const ranking = await engine.rank({ candidates, topK: 3, vector: [1, run % 3] });
    if (!ranking.items.every(({ score, utility }) => Number.isFinite(score) && Number.isFinite(utility)))
      return "a score is not finite";
    open.push(ranking.episode);
    clock.now += STEPS[Math.floor(random() * STEPS.length)] as number;
    const episode = open[Math.floor(random() * open.length)] as string;
    // An episode may be over by the clock of this moment: that is refused with a code, and nothing else.
    const outcome = {
      reward: random() < 0.5,
      source: `s${run % 3}`,
      tier: run % 4 === 0 ? ("verified" as const) : ("user" as const),
    };
    const failed = await engine.report(episode, outcome).then(
      () => undefined,
      (error: { code?: string }) =>
        ["OUTCOME_TOO_LATE", "UNKNOWN_EPISODE"].includes(error.code ?? "") ? undefined : String(error),
    );
    if (failed) return failed;
  }
  await engine.flush();
  if (engine.health().openEpisodes > 6) return "open episodes pile up";
  if (!(await replay(engine)).identical) return "the states do not follow from the ledger";
  clock.now += 3_650 * DAY;
  await compact(engine, { namespace: "default" });
  return (await verify(engine)).ok ? undefined : "the compacted ledger does not verify";
}

/** The fault that the harness must see: an age that is taken for granted to be one. */
function trustingClocks(): Learner {
  const learner = oar() as Learner;
  let last = 0;
  return {
    ...learner,
    score(request) {
      const scores = learner.score(request);
      const age = Math.sqrt(request.now - last);
      last = request.now;
      return { ...scores, score: scores.score.map((score) => score + 0 * age) };
    },
  };
}

export const clockWalks: Harness = {
  name: "clock walks",
  async run(size): Promise<readonly CheckResult[]> {
    const broken: string[] = [];
    for (let seed = 1; seed <= WALKS[size]; seed++) {
      const problem = await walk(seed, oar() as Learner);
      if (problem) broken.push(`seed ${seed}: ${problem}`);
    }
    let found = 1;
    while (found <= TIMEOUT && !(await walk(found, trustingClocks()).catch(String))) found += 1;
    return [
      {
        promise: "R12",
        what: "clocks that stand still, step back and jump by up to ten years",
        tried: `${WALKS[size]} walks of ${RUNS} runs`,
        seen:
          broken.length === 0 ? "all finite, in ledger order, equal to their replay" : broken.slice(0, 3).join("; "),
        held: broken.length === 0,
      },
      mutantResult({
        what: "takes the root of an age",
        tried: `up to ${TIMEOUT} walks`,
        seen: found <= TIMEOUT ? `found by walk ${found}` : "not found",
        held: found <= TIMEOUT,
      }),
    ];
  },
};
