import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createEngine } from "@qavr/core";
import { verify } from "@qavr/core/maintenance";
import { type Random, seededRandom } from "@qavr/lab";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { type Recorded, recordInProcess } from "./recording-process.js";
import { retry } from "./runs.js";
import { has, inFolder, mayMount, system } from "./workspace.js";

const CUTS = { quick: 3, full: 500 } as const;
/** Cuts of one process, each a copy of its disk: it goes on after the others. */
const CUTS_PER_PROCESS = 4;
const IMAGE_BYTES = 48 * 1024 * 1024;
/** Longest time between two cuts, ms. */
const BETWEEN = 300;
/** Messages of a stopped process arrive within this time, ms. */
const HEARD = 20;

interface CutTally {
  cuts: number;
  acknowledged: number;
  lost: number;
  /** Cuts in which something was lost. */
  lossy: number;
  broken: number;
}

/** A disk as a power cut would leave it. */
interface CutDisk {
  readonly image: string;
  /** Acknowledgements that the process had by then. */
  readonly told: Recorded;
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
    const replayed = join(folder, "replayed");
    mkdirSync(replayed);
    while (tally.cuts < cuts && !until(tally)) {
      const disks = await cutDisks(folder, Math.min(CUTS_PER_PROCESS, cuts - tally.cuts), mode, random);
      for (const { image, told } of disks) {
        system("mount", "-o", "loop", image, replayed);
        try {
          await inspect(join(replayed, "ledger.db"), told, tally);
        } finally {
          system("umount", replayed);
        }
      }
    }
  });
  return tally;
}

/** Lets one process record on a new disk, and copies that at several moments. */
async function cutDisks(
  folder: string,
  cuts: number,
  mode: "normal" | undefined,
  random: Random,
): Promise<readonly CutDisk[]> {
  const [disk, mounted] = [join(folder, "disk"), join(folder, "mounted")];
  const disks: CutDisk[] = [];
  mkdirSync(mounted, { recursive: true });
  writeFileSync(disk, new Uint8Array(IMAGE_BYTES));
  system("mkfs.ext4", "-q", "-F", disk);
  system("mount", "-o", "loop", disk, mounted);
  try {
    await recordInProcess({
      path: join(mounted, "ledger.db"),
      first: 0,
      after: "first acknowledgement",
      delay: BETWEEN * random(),
      ...(mode ? { mode } : {}),
      async interrupt(pid, sofar) {
        for (let cut = 0; cut < cuts; cut++) {
          if (cut > 0) await pause(BETWEEN * random());
          process.kill(pid, "SIGSTOP");
          await pause(HEARD);
          const image = join(folder, `cut-${cut}`);
          disks.push({ image, told: sofar() });
          copyFileSync(disk, image);
          process.kill(pid, "SIGCONT");
        }
        process.kill(pid, "SIGKILL");
      },
    });
  } finally {
    system("umount", mounted);
  }
  return disks;
}

async function inspect(path: string, { acknowledged }: Recorded, tally: CutTally): Promise<void> {
  tally.cuts += 1;
  tally.acknowledged += acknowledged.size;
  const engine = createEngine({ store: sqliteStore(path) });
  let lost = 0;
  for (const [run, seq] of acknowledged) {
    const answer = await retry(engine, run);
    if (answer?.status !== "duplicate" || answer.seq !== seq) lost += 1;
  }
  tally.lost += lost;
  if (lost > 0) tally.lossy += 1;
  if (!(await verify(engine)).ok) tally.broken += 1;
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
      mutantResult({
        what: "synchronous = normal",
        tried: `${mutant.cuts} cuts`,
        seen: `${mutant.lost} lost outcomes seen, ${mutant.broken} ledgers that do not verify`,
        held: mutant.lossy > 0 && mutant.broken === 0,
      }),
    ];
  },
};
