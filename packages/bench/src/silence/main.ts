import { DATASET_NAMES, installedVersions, withProgress } from "@qavr/lab";
import { prepare } from "../learning/run-job.js";
import { COLUMNS } from "../real/columns.js";
import { embedderOf } from "../real/worker.js";
import { runBenchmark } from "../report/benchmark.js";
import { runJobs } from "../threads/run-jobs.js";
import { type SilenceRow, silencePage, silenceTable } from "./report.js";
import type { Arm, SilenceJob, SilenceResult } from "./worker.js";

const ALL: Arm = { name: "all" };
const QUIET: Arm = { name: "minWorth 0.3", minWorth: 0.3 };
const SHORTER: Arm = { name: "one memory fewer", topK: 4 };

type World = SilenceJob extends infer Job ? (Job extends unknown ? Omit<Job, "arm" | "seed"> : never) : never;

const WORLDS: readonly { readonly name: string; readonly world: World; readonly arms: readonly Arm[] }[] = [
  ...["bfcl-mid, noise, k = 3", "mawps, noise, k = 3"].map((column) => ({
    name: column,
    world: { column },
    arms: [ALL, QUIET],
  })),
  ...DATASET_NAMES.map((set) => ({
    name: set,
    world: { set, scenario: "main" as const },
    arms: [ALL, QUIET, SHORTER],
  })),
  {
    name: "clinc150, every memory helps",
    world: { set: "clinc150" as const, scenario: "longer" as const },
    arms: [ALL, QUIET, SHORTER],
  },
];

await runBenchmark({
  name: "silence",
  help: "What minWorth saves and costs. A look takes a minute, --full five on two cores.",
  versions: () => installedVersions(import.meta.url),
  async measure(full) {
    const seeds = full ? [1, 2, 3, 4, 5, 6, 7, 8] : [1];
    await withProgress("embeddings (kept for the next time)", async () => {
      for (const { world } of WORLDS) {
        if ("set" in world) await prepare(world.set);
        else await embedderOf(COLUMNS.find(({ name }) => name === world.column)?.set as never);
      }
    });
    const all = WORLDS.flatMap(({ name, world, arms }) => arms.map((arm) => ({ name, world, arm })));
    const jobs = all.flatMap(({ world, arm }) => seeds.map((seed) => ({ ...world, arm, seed }) as SilenceJob));
    const results = await withProgress("trials", (update) =>
      runJobs<SilenceJob, SilenceResult>(new URL("./worker.mjs", import.meta.url), jobs, update),
    );
    const rows = all.map(({ name, arm }, place): SilenceRow => {
      const own = results.slice(place * seeds.length, (place + 1) * seeds.length);
      const of = (key: keyof SilenceResult): readonly number[] => own.map((one) => Number(one[key].toFixed(4)));
      return {
        world: name,
        arm: arm.name,
        heldOut: of("heldOut"),
        heldOutTokens: of("heldOutTokens"),
      };
    });
    return { seeds, rows };
  },
  summary: silenceTable,
  page: silencePage,
});
