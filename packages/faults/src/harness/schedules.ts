import { simulate } from "../simulation/simulate.js";
import type { Mutant } from "../simulation/simulated-disk.js";
import { type CheckResult, type Harness, mutantResult } from "./check.js";

const SEEDS = { quick: 150, full: 10_000 } as const;
const MUTANTS: readonly Mutant[] = [
  "acknowledges before it commits",
  "forgets keys",
  "has an outbox that forgets with its process",
  "has no timeouts",
];
/** Seeds after which a mutant counts as missed. */
const TIMEOUT = 100;
/** Every so many seeds one is run again, to see that it is the same history. */
const AGAIN = 50;

export const schedules: Harness = {
  name: "schedules",
  async run(size): Promise<readonly CheckResult[]> {
    const broken: string[] = [];
    const sum = { crashes: 0, queued: 0, degraded: 0, retries: 0 };
    let differing = 0;
    for (let seed = 1; seed <= SEEDS[size]; seed++) {
      const simulated = await simulate(seed);
      if (simulated.broken) broken.push(`seed ${seed}: ${simulated.broken}`);
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += simulated[key];
      if (seed % AGAIN === 0 && (await simulate(seed)).trace !== simulated.trace) differing += 1;
    }
    const results: CheckResult[] = [
      {
        promise: "R22",
        what: "simulated histories: two processes, four clients, a network and a disk that fail",
        tried: `${SEEDS[size].toLocaleString("en")} seeds; ${sum.crashes.toLocaleString("en")} crashes, ${sum.retries.toLocaleString("en")} retries, ${sum.queued.toLocaleString("en")} queued outcomes`,
        seen: broken.length === 0 ? "0 promises broken" : `${broken.length} broken: ${broken.slice(0, 3).join("; ")}`,
        held: broken.length === 0,
      },
      {
        promise: "R9",
        what: "rankings in them: none throws, and what is degraded is in the host's order",
        tried: `${sum.degraded.toLocaleString("en")} degraded rankings`,
        seen: broken.some((problem) => /ranking|degraded/.test(problem)) ? "some did not" : "all did",
        held: sum.degraded > 0 && !broken.some((problem) => /ranking|degraded/.test(problem)),
      },
      {
        promise: "R22",
        what: "the same seed again",
        tried: `${Math.floor(SEEDS[size] / AGAIN)} seeds`,
        seen: `${differing} gave another history`,
        held: differing === 0,
      },
    ];
    for (const mutant of MUTANTS) {
      let seed = 1;
      while (seed <= TIMEOUT && !(await simulate(seed, mutant)).broken) seed += 1;
      results.push(
        mutantResult({
          what: mutant,
          tried: `up to ${TIMEOUT} seeds`,
          seen: seed <= TIMEOUT ? `found by seed ${seed}` : "not found",
          held: seed <= TIMEOUT,
        }),
      );
    }
    return results;
  },
};
