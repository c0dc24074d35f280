import { createEngine, type Engine, memoryStore, type OutcomeInput } from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { replay, revoke } from "@qavr/core/maintenance";
import { seededRandom } from "@qavr/lab";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { learnedText } from "./learned-text.js";

const HISTORIES = { quick: 20, full: 1_000 } as const;
const RUNS = 30;
const MINUTE = 60_000;
const NOW = 1_767_225_600_000;
const TIERS = ["verified", "observed", "user", "self-reported"] as const;

/**
 * One history, in which a second source also has its say about some runs. Where it is `spared`, that source says nothing. What is
 * shown does not follow from what was learned: the ledger says what was shown, and that must be the same in both.
 */
async function live(seed: number, spared: boolean): Promise<Engine> {
  const random = seededRandom(seed);
  const clock = { now: NOW };
  let ids = 0;
  const doubt = { governance: governance({ trust: "audited", sourceCaps: { weight: 3, window: 60 * MINUTE } }) };
  const engine = createEngine({
    store: memoryStore(),
    clock: () => clock.now,
    createId: () => `e${++ids}`,
    ...(seed % 2 === 0 ? doubt : {}),
  });
  const word = (source: string): OutcomeInput => ({
    reward: random() < 0.5,
    tier: TIERS[Math.floor(random() * TIERS.length)] as (typeof TIERS)[number],
    source,
    ...(random() < 0.3 ? { helpful: ["m1"] } : {}),
  });
  const ended: string[] = [];
  for (let run = 0; run < RUNS; run++) {
    clock.now += MINUTE;
    const first = Math.floor(10 * random());
    const { episode } = await engine.rank({
      candidates: Array.from({ length: 8 }, (_, i) => ({ id: `d${first + i}`, similarity: 0.9 - i / 20 })),
      vector: Array.from({ length: 4 }, () => random() - 0.5),
      topK: 3,
      keepOrder: true,
    });
    await engine.end(episode, random() < 0.8 ? word("honest") : undefined);
    ended.push(episode);
    const about = ended[Math.floor(random() * ended.length)] as string;
    const lie = word("liar");
    if (!spared && random() < 0.5) await engine.report(about, lie);
    else if (spared) random();
  }
  return engine;
}

export const revocations: Harness = {
  name: "revocations",
  async run(size): Promise<readonly CheckResult[]> {
    let [different, without, revoked] = [0, 0, 0];
    for (let seed = 1; seed <= HISTORIES[size]; seed++) {
      const [told, spared] = [await live(seed, false), await live(seed, true)];
      const clean = await learnedText(spared);
      if ((await learnedText(told)) !== clean) without += 1;
      revoked += (await revoke(told, { namespace: "default", source: "liar" })).outcomes;
      if ((await learnedText(told)) !== clean || !(await replay(told)).identical) different += 1;
    }
    const tried = `${HISTORIES[size].toLocaleString("en")} histories, ${revoked.toLocaleString("en")} outcomes revoked`;
    return [
      {
        promise: "R24",
        what: "a source is revoked: what was learned, against a ledger that never heard it",
        tried,
        seen: `${different} differ in any bit`,
        held: different === 0 && revoked > 0,
      },
      mutantResult({
        what: "does not revoke",
        tried: `${HISTORIES[size].toLocaleString("en")} histories`,
        seen: `${without} differences seen`,
        held: without > HISTORIES[size] / 2,
      }),
    ];
  },
};
