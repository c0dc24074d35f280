import { readFileSync } from "node:fs";
import { has, system } from "./workspace.js";

/** Processors, as `taskset` reads them: `0,2,3`. */
export interface Processors {
  /** The first one. */
  readonly own: string;
  readonly others: string;
}

/** The processors that this process may use, the first one apart. Undefined where there is only one, or no `taskset`. */
export function processorsApart(): Processors | undefined {
  if (!has("taskset", "--version")) return;
  const [first, ...others] = allowed();
  return others.length === 0 ? undefined : { own: `${first}`, others: others.join() };
}

/** Runs work on some of the processors only. Processes that it starts stay on them as well. */
export async function onProcessors<T>(processors: string, work: () => Promise<T>): Promise<T> {
  const before = allowed().join();
  pin(process.pid, processors);
  try {
    return await work();
  } finally {
    pin(process.pid, before);
  }
}

/** Moves a process with all its threads. @throws when it has ended */
export function pin(pid: number, processors: string): void {
  system("taskset", "--all-tasks", "--cpu-list", "--pid", processors, `${pid}`);
}

function allowed(): readonly number[] {
  const [, ranges = "0"] = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return ranges.split(",").flatMap((range) => {
    const [from = 0, to = from] = range.split("-").map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
}
