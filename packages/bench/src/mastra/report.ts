import { type Interval, markdownTable, plain, ratioText, signed } from "@qavr/lab";
import { originLine, type Report } from "../report/benchmark.js";
import { ratio } from "../speed/measure.js";
import { EMBEDDING_DIMS } from "./hashed-embedder.js";
import type { LearningResult } from "./learning.js";
import { ANSWER_WORDS, ARMS, type Overhead } from "./overhead.js";
import type { Comparison } from "./plans.js";

/** A run may take at most so many times as long as with Mastra's own memory. */
const OVERHEAD_TARGET = 1.15;

export interface MastraResults {
  readonly learning: readonly (Comparison & { readonly result: LearningResult })[];
  readonly overhead: readonly {
    readonly name: string;
    readonly medianMs: number;
    /** Of wall-clock medians per round. */
    readonly ratio: Interval;
    readonly cpuMs: number;
    /** Of median processor times. */
    readonly cpuRatio: number;
  }[];
}

export function mastraResults(learning: MastraResults["learning"], measured: readonly Overhead[]): MastraResults {
  const plain = measured.find(({ wall }) => wall.name === ARMS.plain) as Overhead;
  return {
    learning,
    overhead: measured.map(({ wall, cpuMs }) => ({
      name: wall.name,
      medianMs: wall.median / 1000,
      ratio: ratio(wall, plain.wall),
      cpuMs,
      cpuRatio: cpuMs / plain.cpuMs,
    })),
  };
}

/** The report's numbers as lines for a terminal. */
export function reportLines({ learning, overhead }: MastraResults): string[] {
  return [
    ...learning.flatMap(({ name, result }) => [
      name,
      ...result.blocks.map(
        ({ runs, control, treated, gain }) =>
          `  to run ${runs}: ${control.toFixed(3)} → ${treated.toFixed(3)}  ${shown(gain)}`,
      ),
      `  all: ${result.total.control.toFixed(3)} → ${result.total.treated.toFixed(3)}  ${shown(result.total.gain)}`,
    ]),
    ...overhead.map(
      (one) =>
        `${one.name}: ${one.medianMs.toFixed(1)} ms, ${ratioText(one.ratio)} × Memory; processor ${one.cpuRatio.toFixed(3)} ×`,
    ),
  ];
}

/** The report as a Markdown page; what misses its target comes first. */
export function reportPage(report: Report<MastraResults>): string {
  const { learning, overhead } = report;
  const durable = overhead.find(({ name }) => name === ARMS.sqlite);
  const missed = durable !== undefined && durable.ratio.mean > OVERHEAD_TARGET;
  const losses = learning.flatMap(({ name, result }) =>
    result.blocks.filter(({ gain }) => gain.mean - gain.margin <= 0).map(({ runs }) => `${name}, runs up to ${runs}`),
  );
  return `# Mastra: gain and cost of the memory provider

${missed ? `**Missed in this run: a run takes at most ${OVERHEAD_TARGET} × as long.** ` : ""}${losses.length === 0 ? "Every interval of a gain lies above zero." : `**Not clear of zero in this run:** ${losses.join("; ")}.`}
Whole runs of an agent with LibSQL files and a scripted model.

## Success

A support desk with ten kinds of trouble. Its memory has a right and a wrong fix for each; the wrong one resembles the tickets. A run succeeds with
probability 0.95 with the right fix in the prompt, 0.1 with the wrong one, 0.55 with both, 0.35 with neither. Solved tickets become memories. Ages of
notes are simulated. Two memories are recalled, with a neighbour each way; the [guards](../reference/mastra.md#what-is-recalled) are on.

${markdownTable(
  ["comparison", "runs", "seeds", "before", "after", "gain"],
  learning.map(({ name, plan, result: { total } }) => [
    name,
    String(plan.runs),
    String(total.gain.n),
    plain(total.control),
    plain(total.treated),
    shown(total.gain),
  ]),
)}

## Cost of a run

A run recalls four messages with a neighbour each way and streams ${ANSWER_WORDS} words from a free model, the worst case. Target: at most ${OVERHEAD_TARGET} with the ledger
in SQLite. With learning off, the distance from 1 is noise. Ratios are of medians per round.

${markdownTable(
  ["memory", "median, ms", "÷ `Memory`", "processor, ms", "÷ `Memory`"],
  overhead.map((one) => [
    one.name,
    one.medianMs.toFixed(1),
    ratioText(one.ratio),
    one.cpuMs.toFixed(1),
    one.cpuRatio.toFixed(3),
  ]),
)}

Embeddings are hashed words and character runs of ${EMBEDDING_DIMS} dimensions, without meaning.

${originLine("mastra", report)}
`;
}

function shown({ mean, margin }: Interval): string {
  return `${signed(mean)} ±${margin.toFixed(3)}`;
}
