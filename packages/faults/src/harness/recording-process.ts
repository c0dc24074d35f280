import { outputUntilKilled } from "./interrupted-process.js";
import { fixture } from "./workspace.js";

/** Runs that a stopped process had started, and those acknowledged to it. */
export interface Recorded {
  readonly started: readonly number[];
  /** Place in the ledger by run number. */
  readonly acknowledged: ReadonlyMap<number, number>;
  /** Codes of outcomes that were refused. */
  readonly refused: readonly string[];
}

export interface RecordingPlan {
  readonly path: string;
  /** Number of the first run to record. */
  readonly first: number;
  /** Further work or a fault of the process; see the fixture. */
  readonly mode?: "early" | "normal" | "compact";
  /** Runs after which it stops by itself. */
  readonly count?: number;
  /** A program that starts Node, with its own arguments. */
  readonly under?: readonly string[];
  /** Called once, after `delay` ms from the start of the process or from its first acknowledgement; kills it in the end. */
  readonly interrupt?: (pid: number, sofar: () => Recorded) => unknown;
  readonly after?: "start" | "first acknowledgement";
  readonly delay?: number;
}

/** Lets a process record outcomes until it ends or is killed. @throws if it ends by itself without having been told to */
export async function recordInProcess(plan: RecordingPlan): Promise<Recorded> {
  const { path, first, mode = "", count, under = [], interrupt, after = "start", delay = 0 } = plan;
  const given = [path, String(first), mode, ...(count ? [String(count)] : [])];
  const output = await outputUntilKilled({
    command: [...under, process.execPath, fixture("record-outcomes.mjs"), ...given],
    delay,
    from: after === "start" ? undefined : "done ",
    interrupt: (pid, sofar) => interrupt?.(pid, () => parse(sofar())),
    mayEnd: count !== undefined,
  });
  return parse(output);
}

function parse(output: string): Recorded {
  // The end may have cut the last line.
  const lines = output.slice(0, output.lastIndexOf("\n") + 1).split("\n");
  const started: number[] = [];
  const acknowledged = new Map<number, number>();
  const refused: string[] = [];
  for (const line of lines) {
    const [word, run, what] = line.split(" ");
    if (word === "start") started.push(Number(run));
    if (word === "done") acknowledged.set(Number(run), Number(what));
    if (word === "refused") refused.push(what as string);
  }
  return { started, acknowledged, refused };
}
