import { spawn } from "node:child_process";

/** A process and its interruption. */
export interface InterruptedProcess {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** ms to the interruption. */
  readonly delay: number;
  /** The delay begins when the output holds this text. @default at the start */
  readonly from?: string | undefined;
  /** The delay begins when this calls `begin`, and not before. What it returns is called in the end. */
  readonly watch?: (begin: () => void) => () => void;
  /** Has to kill it, at once or later. @default kills it */
  readonly interrupt?: (pid: number, output: () => string) => unknown;
  /** True for a process that may end by itself. @default false */
  readonly mayEnd?: boolean;
}

/** Runs a process until it is killed. Returns its output. @throws with its errors if it ends by itself */
export function outputUntilKilled(plan: InterruptedProcess): Promise<string> {
  const { command, delay, from, watch, interrupt, mayEnd = false } = plan;
  return new Promise((resolve, reject) => {
    const [program, ...given] = command as [string, ...string[]];
    const child = spawn(program, given, { stdio: ["ignore", "pipe", "pipe"] });
    let [output, errors, begun] = ["", "", false];
    const stop = (): unknown => (interrupt ? interrupt(child.pid as number, () => output) : child.kill("SIGKILL"));
    const begin = (): void => {
      if (!begun) setTimeout(stop, delay);
      begun = true;
    };
    const unwatch = watch?.(begin);
    if (!watch && from === undefined) begin();
    child.stdout.on("data", (text: Buffer) => {
      output += text;
      if (from !== undefined && output.includes(from)) begin();
    });
    child.stderr.on("data", (text: Buffer) => {
      errors += text;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      unwatch?.();
      if (signal === "SIGKILL" || (mayEnd && code === 0)) resolve(output);
      else reject(new Error(`A process ended with ${code ?? signal} (build the packages first?): ${errors}`));
    });
  });
}
