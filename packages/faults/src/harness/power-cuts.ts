import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "@qavr/bench";
import { createEngine, QavrError } from "@qavr/core";
import { sqliteStore } from "@qavr/sqlite";
import type { CheckResult, Harness } from "./check.js";
import { type Recorded, recordInProcess } from "./recording-process.js";
import { has, inFolder, mayMount, system } from "./workspace.js";

const CUTS = { quick: 2, full: 150 } as const;
const IMAGE_BYTES = 48 * 1024 * 1024;

interface CutTally {
  cuts: number;
  acknowledged: number;
  lost: number;
  /** Cuts in which something was lost. */
  lossy: number;
  broken: number;
}

/**
 * Cuts the power of a machine that records outcomes: its disk is a file with an ext4 inside, which is copied while the process stands
 * still. The copy holds what had reached the disk at that moment, and no more; its journal is replayed when it is mounted.
 */
async function cutPower(
  cuts: number,
  mode: "normal" | undefined,
  until: (tally: CutTally) => boolean,
): Promise<CutTally> {
  const tally: CutTally = { cuts: 0, acknowledged: 0, lost: 0, lossy: 0, broken: 0 };
  const random = seededRandom(mode ? 2 : 1);
  await inFolder(async (folder) => {
    const [disk, copy] = [join(folder, "disk"), join(folder, "copy")];
    const [mounted, replayed] = [join(folder, "mounted"), join(folder, "replayed")];
    for (const place of [mounted, replayed]) mkdirSync(place);
    while (tally.cuts < cuts && !until(tally)) {
      writeFileSync(disk, new Uint8Array(IMAGE_BYTES));
      system("mkfs.ext4", "-q", "-F", disk);
      system("mount", "-o", "loop", disk, mounted);
      let told: Recorded | undefined;
      try {
        await recordInProcess({
          path: join(mounted, "ledger.db"),
          first: 0,
          after: "first acknowledgement",
          delay: 300 * random(),
          ...(mode ? { mode } : {}),
          interrupt(pid, sofar) {
            process.kill(pid, "SIGSTOP");
            // What it has been told by now was told before the cut.
            setTimeout(() => {
              told = sofar();
              copyFileSync(disk, copy);
              process.kill(pid, "SIGKILL");
            }, 20);
          },
        });
      } finally {
        system("umount", mounted);
      }
      system("mount", "-o", "loop", copy, replayed);
      try {
        await inspect(join(replayed, "ledger.db"), told as Recorded, tally);
      } finally {
        system("umount", replayed);
      }
    }
  });
  return tally;
}

async function inspect(path: string, { acknowledged }: Recorded, tally: CutTally): Promise<void> {
  tally.cuts += 1;
  tally.acknowledged += acknowledged.size;
  const engine = createEngine({ store: sqliteStore(path) });
  let lost = 0;
  for (const [run, seq] of acknowledged) {
    const answer = await engine
      .report(`run-${run}`, { reward: run % 3 !== 0, idempotencyKey: `run-${run}` })
      .catch((error: unknown) => {
        if (!QavrError.isInstance(error, "UNKNOWN_EPISODE")) throw error;
      });
    if (answer?.status !== "duplicate" || answer.seq !== seq) lost += 1;
  }
  tally.lost += lost;
  if (lost > 0) tally.lossy += 1;
  if (!(await engine.verify()).ok) tally.broken += 1;
  await engine.close();
}

export const powerCuts: Harness = {
  name: "power cuts",
  obstacle: () => (mayMount() && has("mkfs.ext4", "-V") ? undefined : "needs root, loop mounts and mkfs.ext4"),
  async run(size): Promise<readonly CheckResult[]> {
    const tally = await cutPower(CUTS[size], undefined, () => false);
    const mutant = await cutPower(50, "normal", ({ lossy }) => lossy > 0);
    return [
      {
        promise: "R2",
        what: "simulated power cuts at default settings (ext4, SQLite)",
        tried: `${tally.cuts} cuts, ${tally.acknowledged} acknowledged outcomes`,
        seen: `${tally.lost} lost, ${tally.broken} ledgers that do not verify`,
        held: tally.lost === 0 && tally.broken === 0,
      },
      {
        promise: "R25",
        what: "mutant: synchronous = normal",
        tried: `${mutant.cuts} cuts`,
        seen: `${mutant.lost} lost outcomes seen, ${mutant.broken} ledgers that do not verify`,
        held: mutant.lossy > 0 && mutant.broken === 0,
        mutant: true,
      },
    ];
  },
};
