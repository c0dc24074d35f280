import { type Interval, machineText, ratioText, signed } from "@qavr/lab";
import type { Report } from "../report/benchmark.js";
import { ratio } from "../speed/measure.js";
import { EMBEDDING_DIMS } from "./hashed-embedder.js";
import type { LearningResult } from "./learning.js";
import { ANSWER_WORDS, ARMS, type Overhead } from "./overhead.js";
import type { Comparison } from "./plans.js";

/** A run may take at most so many times as long as with Mastra's own memory. */
export const OVERHEAD_TARGET = 1.15;

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
  const { learning, overhead, hardware, versions } = report;
  const durable = overhead.find(({ name }) => name === ARMS.sqlite);
  const missed = durable !== undefined && durable.ratio.mean > OVERHEAD_TARGET;
  const losses = learning.flatMap(({ name, result }) =>
    result.blocks.filter(({ gain }) => gain.mean - gain.margin <= 0).map(({ runs }) => `${name}, runs up to ${runs}`),
  );
  return `# Mastra: what the memory provider gains and costs

${missed ? `**Missed in this run: a run takes at most ${OVERHEAD_TARGET} × as long.** ` : ""}${losses.length === 0 ? "Every interval of a gain lies above zero." : `**Not clear of zero in this run:** ${losses.join("; ")}.`}
Whole agent runs on the real packages: an agent of \`@mastra/core\`, LibSQL files for storage and vectors, a scripted model.

## Success

A support desk gets ten kinds of trouble again and again. Its memory has a right and a wrong fix for each, and the wrong one resembles the
tickets. A run succeeds with probability 0.95 with the right fix in the prompt, 0.1 with the wrong one, 0.55 with both and 0.35 with
neither; both agents of a pair share luck. A failed run throws. Solved tickets become memories, so both agents get better. The ages of notes
are simulated: either the wrong or the right ones are a year old, the others new.

| comparison | runs | before | after | gain, 95 % interval over seeds |
|---|---|---|---|---|
${learning
  .flatMap(({ name, plan, result }) => {
    const rows = plan.runs > plan.block ? [...result.blocks, result.total] : result.blocks;
    return rows.map((row, place) => {
      const isTotal = row === result.total;
      const from = isTotal ? 1 : row.runs - plan.block + 1;
      return `| ${place === 0 ? name : ""} | ${from}–${row.runs} | ${row.control.toFixed(3)} | ${row.treated.toFixed(3)} | ${shown(row.gain)} (${row.gain.n} seeds) |`;
    });
  })
  .join("\n")}

## Cost of a run

A run recalls four messages with a neighbour each way, Mastra's default, and streams ${ANSWER_WORDS} words from a free model: the worst case for the
ratio. The target is at most ${OVERHEAD_TARGET} with the ledger in SQLite. The row with learning off is Mastra's own code: its distance from 1 is noise.

| memory | median of a run | ratio to \`Memory\`, 95 % interval over rounds | processor time | ratio |
|---|---|---|---|---|
${overhead.map((one) => `| ${one.name} | ${one.medianMs.toFixed(1)} ms | ${ratioText(one.ratio)} | ${one.cpuMs.toFixed(1)} ms | ${one.cpuRatio.toFixed(3)} |`).join("\n")}

## How

- Command: \`${report.command}\`. Raw results: [mastra.json](mastra.json).
- Success: two memories are recalled, with a neighbour each way; the [guards](../reference/mastra.md#what-is-recalled) are on.
- Cost: runs are interleaved in random order; ratios are of medians per round.
- Embeddings: hashed words and character runs, ${EMBEDDING_DIMS} dimensions, without meaning.
- Machine: ${machineText(hardware, versions)}; ${report.date}.
`;
}

function shown({ mean, margin }: Interval): string {
  return `${signed(mean)} ±${margin.toFixed(3)}`;
}
