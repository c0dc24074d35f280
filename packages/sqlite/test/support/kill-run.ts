import { spawn } from "node:child_process";
import { fixture } from "./child.js";

/** What a process that was killed had begun and what it had been told is safe. */
export interface KilledRun {
  readonly started: readonly number[];
  /** Place in the ledger by run number. */
  readonly acknowledged: ReadonlyMap<number, number>;
}

export interface KillPlan {
  readonly path: string;
  /** Number of the first run to record. */
  readonly first: number;
  /** Ms from `after` to SIGKILL. */
  readonly delay: number;
  /** Count from the start of the process, or from its first acknowledgement. */
  readonly after: "start" | "first acknowledgement";
  /** `early` records through a store that acknowledges before it commits. */
  readonly mode?: "early";
}

/** Lets a process record outcomes and kills it with SIGKILL. @throws if it ends by itself. */
export function killWhileRecording({ path, first, delay, after, mode }: KillPlan): Promise<KilledRun> {
  return new Promise((resolve, reject) => {
    const args = [fixture("record-outcomes.mjs"), path, String(first), ...(mode ? [mode] : [])];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let [output, errors] = ["", ""];
    let armed = false;
    const arm = (): void => {
      if (armed) return;
      armed = true;
      setTimeout(() => child.kill("SIGKILL"), delay);
    };
    if (after === "start") arm();
    child.stdout.on("data", (text: Buffer) => {
      output += text;
      if (output.includes("done ")) arm();
    });
    child.stderr.on("data", (text: Buffer) => {
      errors += text;
    });
    child.on("error", reject);
    child.on("close", (_code, signal) => {
      if (signal === "SIGKILL") resolve(parse(output));
      else reject(new Error(`The recording process ended by itself (build the packages first?): ${errors}`));
    });
  });
}

function parse(output: string): KilledRun {
  // The kill may have cut the last line.
  const lines = output.slice(0, output.lastIndexOf("\n") + 1).split("\n");
  const started: number[] = [];
  const acknowledged = new Map<number, number>();
  for (const line of lines) {
    const [word, run, seq] = line.split(" ");
    if (word === "start") started.push(Number(run));
    if (word === "done") acknowledged.set(Number(run), Number(seq));
  }
  return { started, acknowledged };
}
