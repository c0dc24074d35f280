import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createEngine } from "@qavr/core";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult, type Size } from "./check.js";
import { fixture, inFolder } from "./workspace.js";

const OUTCOMES = { quick: 40, full: 1_500 } as const;
const WRITERS = 4;
/** How long a writer waits for the others, ms: as it does by default, and in a test however busy the machine is. */
const TIMEOUT = { quick: 60_000, full: 5_000 } as const;
/** Longest duration of an outcome at the 99th percentile and at worst, ms. Checked in the full run only: a test must not depend on time. */
const LIMITS = { p99: 100, worst: 1_000 } as const;

interface Timed {
  readonly spent: readonly number[];
  readonly refused: readonly string[];
}

const run = promisify(execFile);

/** Several processes that record into one ledger, one outcome after the other each. */
async function contend(outcomes: number, timeouts: number): Promise<Timed & { readonly recorded: number }> {
  return inFolder(async (folder) => {
    const path = join(folder, "ledger.db");
    await sqliteStore(path).close();
    const writers = await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        const given = [fixture("time-outcomes.mjs"), path, `w${writer}`, String(outcomes), String(timeouts)];
        const ended = await run(process.execPath, given, { maxBuffer: 1 << 26 }).catch(String);
        return typeof ended === "string" ? { spent: [], refused: [ended] } : (JSON.parse(ended.stdout) as Timed);
      }),
    );
    const engine = createEngine({ store: sqliteStore(path) });
    const { user: recorded } = (await engine.status()).outcomes;
    await engine.close();
    return {
      spent: writers.flatMap(({ spent }) => spent).sort((a, b) => a - b),
      refused: writers.flatMap(({ refused }) => refused),
      recorded,
    };
  });
}

export const contention: Harness = {
  name: "contention",
  async run(size: Size): Promise<readonly CheckResult[]> {
    const outcomes = OUTCOMES[size];
    const { spent, refused, recorded } = await contend(outcomes, TIMEOUT[size]);
    const at = (share: number): number => spent[Math.min(spent.length - 1, Math.floor(share * spent.length))] as number;
    const [middle, p99, worst] = [at(0.5), at(0.99), at(1)];
    const impatient = await contend(OUTCOMES.quick, 0);
    const complete = refused.length === 0 && recorded === WRITERS * outcomes;
    return [
      {
        promise: "R7",
        what: "processes that record into one ledger at once, full durability (SQLite)",
        tried: `${WRITERS} × ${outcomes.toLocaleString("en")} outcomes over 20 memories`,
        seen: `${refused.length} refused, ${recorded.toLocaleString("en")} recorded; ${middle.toFixed(0)} ms in the middle, p99 ${p99.toFixed(0)} ms, worst ${worst.toFixed(0)} ms`,
        held: complete && (size === "quick" || (p99 <= LIMITS.p99 && worst <= LIMITS.worst)),
      },
      mutantResult({
        what: "does not wait for other writers",
        tried: `${WRITERS} × ${OUTCOMES.quick} outcomes`,
        seen: `${impatient.refused.length} refused`,
        held: impatient.refused.length > 0,
      }),
    ];
  },
};
