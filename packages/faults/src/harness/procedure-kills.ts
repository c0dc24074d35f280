import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as textOfStream } from "node:stream/consumers";
import { seededRandom } from "@qavr/lab";
import { openProcedures } from "@qavr/markdown";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { outputUntilKilled } from "./interrupted-process.js";
import { fixture, inFolder } from "./workspace.js";

const KILLS = { quick: 8, full: 1_000 } as const;
/** Kills as soon as a file is being written beside, so that they meet the write. */
const WRITE_KILLS = { quick: 6, full: 250 } as const;
/** More of them, until one meets a write: a busy machine may be late each time. */
const MOST_WRITE_KILLS = 250;
const OUTCOMES = { quick: 40, full: 2_500 } as const;
const PROCESSES = 4;
const PROCEDURES = 20;

/** 300 KB, whose last line tells that nothing is missing. */
const BODY = `# Long\n\n${"A step of the procedure, 手順.\n".repeat(9_000)}The end.\n`;
const FILE = "procedures/long.md";
const WRITES = ".qavr/writes";
const HEAD = "---\ndescription: Long\n# A comment.\nowner: ops\n";

interface Tally {
  kills: number;
  stamps: number;
  /** Files that are neither the old nor the new text. */
  torn: number;
  /** Kills that left a file beside: they met the write. */
  met: number;
  /** Files beside, after the next start. */
  leftovers: number;
}

/** Lets a process stamp, and kills it; returns the stamps that it finished. */
async function stampUntilKilled(root: string, mode: string, delay: number, isEarly: boolean): Promise<number> {
  const onWrite = (begin: () => void) => {
    const watching = watch(join(root, WRITES), begin);
    return () => watching.close();
  };
  const output = await outputUntilKilled({
    command: [process.execPath, fixture("change-procedures.mjs"), root, mode],
    delay,
    ...(isEarly ? { watch: onWrite } : { from: "stamped" }),
  });
  return output.match(/stamped/g)?.length ?? 0;
}

function isWhole(text: string): boolean {
  return text.startsWith(HEAD.slice(0, 4)) && text.includes("owner: ops\n") && text.endsWith(`\n---\n${BODY}`);
}

/** @param delay Time from the first stamp to a kill, ms. @param isEarly Counts it from the beginning of a write instead. */
async function killRepeatedly(
  kills: number,
  { mode, delay, isEarly }: { mode: string; delay: () => number; isEarly: boolean },
): Promise<Tally> {
  const tally: Tally = { kills: 0, stamps: 0, torn: 0, met: 0, leftovers: 0 };
  await inFolder(async (root) => {
    mkdirSync(join(root, "procedures"));
    mkdirSync(join(root, WRITES), { recursive: true });
    writeFileSync(join(root, FILE), `${HEAD}---\n${BODY}`);
    const mayMeet = (): boolean => isEarly && tally.met === 0 && tally.kills < MOST_WRITE_KILLS;
    while (tally.torn === 0 && (tally.kills < kills || mayMeet())) {
      tally.stamps += await stampUntilKilled(root, mode, delay(), isEarly);
      tally.kills++;
      if (leftoversIn(join(root, WRITES)) > 0) tally.met++;
      if (!isWhole(readFileSync(join(root, FILE), "utf8"))) tally.torn++;
      const procedures = openProcedures(root);
      await procedures.list();
      await procedures.close();
      tally.leftovers += leftoversIn(join(root, WRITES)) + readdirSync(join(root, "procedures")).length - 1;
    }
  });
  return tally;
}

function leftoversIn(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}

/** Processes that report outcomes of the same procedures at once. */
async function reportTogether(count: number): Promise<CheckResult> {
  return inFolder(async (root) => {
    mkdirSync(join(root, "procedures"));
    for (let n = 0; n < PROCEDURES; n++) writeFileSync(join(root, `procedures/p${n}.md`), `Procedure ${n}.\n`);
    const errors = await Promise.all(
      Array.from({ length: PROCESSES }, () => {
        const given = [fixture("change-procedures.mjs"), root, "report", String(count), String(PROCEDURES)];
        const child = spawn(process.execPath, given, { stdio: ["ignore", "inherit", "pipe"] });
        return textOfStream(child.stderr);
      }),
    );
    const procedures = openProcedures(root);
    const counts = (await procedures.list()).map(({ id, successes, failures }) => ({ id, successes, failures }));
    await procedures.close();
    const wrong = counts.filter(({ id, successes, failures }) => {
      const own = Array.from({ length: count }, (_, n) => n).filter((n) => id === `procedure:p${n % PROCEDURES}`);
      const failed = own.filter((n) => n % 3 === 0).length;
      return successes !== PROCESSES * (own.length - failed) || failures !== PROCESSES * failed;
    });
    return {
      promise: "R27",
      what: `${PROCESSES} processes that report outcomes of ${PROCEDURES} procedures at once (@qavr/markdown)`,
      tried: `${(PROCESSES * count).toLocaleString("en")} outcomes`,
      seen: `${wrong.length} procedures with other counts${errors.join("") === "" ? "" : "; a process failed"}`,
      held: wrong.length === 0 && counts.length === PROCEDURES && errors.join("") === "",
    };
  });
}

export const procedureKills: Harness = {
  name: "procedures",
  async run(size): Promise<readonly CheckResult[]> {
    const random = seededRandom(1);
    const delay = (): number => 60 * random();
    // Most of them soon: a write may last a millisecond.
    const soon = (): number => 8 * random() ** 3;
    const tally = await killRepeatedly(KILLS[size], { mode: "stamp", delay, isEarly: false });
    const writes = await killRepeatedly(WRITE_KILLS[size], { mode: "stamp", delay: soon, isEarly: true });
    const mutant = await killRepeatedly(100, { mode: "torn", delay, isEarly: false });
    return [
      {
        promise: "R27",
        what: "SIGKILL to processes that stamp a file of 300 KB (@qavr/markdown)",
        tried: `${tally.kills.toLocaleString("en")} kills, ${tally.stamps.toLocaleString("en")} stamps`,
        seen: `${tally.torn} files torn, ${tally.leftovers} files beside after the next start`,
        held: tally.torn === 0 && tally.leftovers === 0 && tally.kills === KILLS[size],
      },
      {
        promise: "R27",
        what: "likewise, 0 to 8 ms after a write has begun",
        tried: `${writes.kills} kills, of which ${writes.met} left a file beside`,
        seen: `${writes.torn} files torn, ${writes.leftovers} files beside after the next start`,
        held: writes.torn === 0 && writes.leftovers === 0 && writes.met > 0,
      },
      mutantResult({
        what: "stamps files in place",
        tried: `${mutant.kills} kills`,
        seen: `${mutant.torn} torn file seen`,
        held: mutant.torn > 0,
      }),
      await reportTogether(OUTCOMES[size]),
    ];
  },
};
