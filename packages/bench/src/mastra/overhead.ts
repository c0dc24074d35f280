import { mkdtemp, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@qavr/core";
import { median } from "@qavr/lab";
import type { LearningOptions } from "@qavr/mastra";
import { type Measured, type Measurement, type MeasureOptions, measureInterleaved } from "../speed/measure.js";
import { createDesk, type Desk } from "./desk.js";
import { createDeskAgent, type DeskAgent } from "./desk-agent.js";

/** Names of the measured agents. */
export const ARMS = {
  plain: "Memory",
  off: "QavrMemory, learning off",
  memory: "QavrMemory, ledger in memory",
  sqlite: "QavrMemory, ledger in SQLite",
} as const;

/** Words that the model streams in each run. */
export const ANSWER_WORDS = 180;

/** Times of the runs of one agent. */
export interface Overhead {
  readonly wall: Measurement;
  /** Median processor time of a run, ms. Waits for the disk are not in it, and a busy machine does not stretch it. */
  readonly cpuMs: number;
}

/** Times whole runs of agents that differ in nothing but their memory, side by side; the model costs nothing. */
export async function measureOverhead(options: MeasureOptions): Promise<readonly Overhead[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "qavr-overhead-"));
  const qavr: Readonly<Record<keyof typeof ARMS, LearningOptions | undefined>> = {
    plain: undefined,
    off: { store: memoryStore(), enabled: false },
    memory: { store: memoryStore() },
    sqlite: { store: join(folder.path, "ledger.db") },
  };
  const agents: DeskAgent[] = [];
  const spent: number[][] = [];
  try {
    const parts: Measured[] = [];
    for (const [arm, name] of Object.entries(ARMS) as [keyof typeof ARMS, string][]) {
      const agent = await createDeskAgent(talkative(createDesk(1)), await mkdtemp(join(folder.path, "agent-")), {
        qavr: qavr[arm],
      });
      agents.push(agent);
      const own: number[] = [];
      spent.push(own);
      let run = 0;
      parts.push({
        name,
        async run() {
          const before = process.cpuUsage();
          await agent.work(run++);
          const { user, system } = process.cpuUsage(before);
          own.push((user + system) / 1000);
        },
      });
    }
    const measurements = await measureInterleaved(parts, options);
    return measurements.map((wall, place) => ({ wall, cpuMs: median((spent[place] as number[]).slice(-wall.calls)) }));
  } finally {
    for (const agent of agents) await agent.close();
  }
}

/** A desk where every ticket is solved, in many words. */
function talkative(desk: Desk): Desk {
  const answer = (text: string): string =>
    Array.from({ length: ANSWER_WORDS }, (_, at) => `${text.length}${at}`).join(" ");
  return {
    notes: desk.notes,
    ticket(run) {
      const { text } = desk.ticket(run);
      return { text, answer: () => answer(text) };
    },
  };
}
