import { createRequire } from "node:module";
import { type Machine, machine, machineText } from "../report/machine.js";
import { ratio } from "../speed/measure.js";
import type { Interval } from "../statistics/interval.js";
import { EMBEDDING_DIMS } from "./hashed-embedder.js";
import type { LearningResult } from "./learning.js";
import { ANSWER_WORDS, ARMS, type Overhead } from "./overhead.js";
import type { Comparison } from "./plans.js";

/** A run may take at most so many times as long as with Mastra's own memory. */
export const OVERHEAD_TARGET = 1.15;

/** Everything that a reader needs to repeat or doubt the numbers. */
export interface MastraReport {
  readonly command: string;
  readonly date: string;
  readonly hardware: Machine;
  readonly versions: Readonly<Record<string, string>>;
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

export function mastraReport(learning: MastraReport["learning"], measured: readonly Overhead[]): MastraReport {
  const plain = measured.find(({ wall }) => wall.name === ARMS.plain) as Overhead;
  return {
    command: "pnpm bench:mastra",
    date: new Date().toISOString().slice(0, 10),
    hardware: machine(),
    versions: installed(["@mastra/core", "@mastra/memory", "@mastra/libsql"]),
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
export function reportLines({ learning, overhead }: MastraReport): string[] {
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
        `${one.name}: ${one.medianMs.toFixed(1)} ms, ${shownRatio(one.ratio)} × Memory; processor ${one.cpuRatio.toFixed(3)} ×`,
    ),
  ];
}

/** The report as a Markdown page; what misses its target comes first. */
export function reportPage(report: MastraReport): string {
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

A support desk hears of ten kinds of trouble again and again. For each it has been told a right fix and a wrong one, and the wrong
one says what the tickets say. A run succeeds with probability 0.95 when the right fix is in the prompt, 0.1 with the wrong one,
0.55 with both and 0.35 with neither; luck is drawn by seed and run, so both agents of a pair share it. A run that fails throws:
nobody reports anything. Solved tickets become memories themselves, which is why both agents get better.

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

A run recalls as Mastra does by default (four messages with a neighbour each way) and streams ${ANSWER_WORDS} words from a model that costs
nothing, so this is the dearest it can look. A busy machine makes the ledger's durable commit wait for the disk. The target is at most ${OVERHEAD_TARGET} with
the ledger in SQLite.

| memory | median of a run | ratio to \`Memory\`, 95 % interval over rounds | processor time | ratio |
|---|---|---|---|---|
${overhead.map((one) => `| ${one.name} | ${one.medianMs.toFixed(1)} ms | ${shownRatio(one.ratio)} | ${one.cpuMs.toFixed(1)} ms | ${one.cpuRatio.toFixed(3)} |`).join("\n")}

The row with learning off runs Mastra's own code: what it differs from 1 by is the noise of this run.

## How

- Command: \`${report.command}\`. Raw results: [mastra.json](mastra.json).
- Two memories are recalled where success is measured, with a neighbour each way; the guards are named in the
  [reference](../reference/mastra.md#what-is-recalled).
- Runs are timed interleaved in random order, one agent after the other in each turn; a ratio is one of medians per round.
- Embeddings: hashed words and character runs, ${EMBEDDING_DIMS} dimensions. They know no meaning; a real model finds more.
- Machine: ${machineText(hardware, versions)}; ${report.date}.
`;
}

function shown({ mean, margin }: Interval): string {
  return `${mean < 0 ? "−" : "+"}${Math.abs(mean).toFixed(3)} ±${margin.toFixed(3)}`;
}

function shownRatio({ mean, margin }: Interval): string {
  return `${mean.toFixed(3)} ±${margin.toFixed(3)}`;
}

function installed(names: readonly string[]): Record<string, string> {
  const { resolve } = createRequire(import.meta.url);
  const versions = names.map((name) => {
    const { version } = createRequire(import.meta.url)(resolve(`${name}/package.json`)) as { version: string };
    return [name, version] as const;
  });
  return { node: process.versions.node, ...Object.fromEntries(versions) };
}
