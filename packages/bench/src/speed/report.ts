import { type Machine, machine, machineText } from "../report/machine.js";
import type { Measurement } from "./measure.js";
import type { SpeedResult } from "./targets.js";
import { INDEX } from "./vector-index.js";
import { FETCHED, SHOWN, TAUGHT } from "./warm-engine.js";

/** Everything that a reader needs to repeat or doubt the numbers. */
export interface SpeedReport {
  readonly command: string;
  readonly date: string;
  readonly hardware: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly results: readonly SpeedResult[];
  readonly measurements: readonly Measurement[];
}

export function speedReport(
  measurements: readonly Measurement[],
  results: readonly SpeedResult[],
  versions: Readonly<Record<string, string>>,
): SpeedReport {
  return {
    command: "pnpm bench:speed",
    date: new Date().toISOString().slice(0, 10),
    hardware: machine(),
    versions,
    results,
    measurements,
  };
}

/** Results as lines of equal width, for a terminal. */
export function resultLines({ results }: SpeedReport): readonly string[] {
  const width = Math.max(...results.map((result) => result.what.length));
  return results.map(
    (result) => `${result.what.padEnd(width)}  ${shownValue(result).padStart(15)}  ${verdict(result)}`,
  );
}

/** The report as a Markdown page; what misses its target comes first. */
export function reportPage(report: SpeedReport): string {
  const { hardware, results, measurements, versions } = report;
  const missed = results.filter((result) => result.target !== undefined && result.value.mean > result.target);
  const rows = [...missed, ...results.filter((result) => !missed.includes(result))];
  return `# Speed

${missed.length === 0 ? "Every target is met in this run." : `**Missed in this run: ${missed.map((result) => result.what).join("; ")}.**`}
Ratios compare medians measured side by side in one process: every turn runs all parts in random order, each on a query of its own. Absolute times belong
to the machine; trust the ratios.

| measure | value (95 % interval over rounds) | target |
|---|---|---|
${rows.map((result) => `| ${result.what} | ${shownValue(result)} | ${result.target === undefined ? "–" : `≤ ${result.target}${result.unit === "µs" ? " µs" : ""}`} |`).join("\n")}

| part | median µs | p95 µs | calls |
|---|---|---|---|
${measurements.map((one) => `| ${one.name} | ${one.median.toFixed(1)} | ${one.p95.toFixed(1)} | ${one.calls.toLocaleString("en")} |`).join("\n")}

## How

- Command: \`${report.command}\`. Raw results: [speed.json](speed.json).
- Host: hnswlib-node, ${INDEX.count.toLocaleString("en")} vectors of ${INDEX.dims} floats (48 latent directions, 31 clusters, noise; seed ${INDEX.seed}), cosine,
  M ${INDEX.m}, efConstruction ${INDEX.efConstruction}, ef ${INDEX.ef}, ${INDEX.queries} queries that are not in the index. The host's part is the native search alone, without document look-up.
- Ranking: ${FETCHED} candidates, ${SHOWN} shown, learner \`oar@1\`, every candidate with evidence (checked), the host's vector of ${INDEX.dims} floats
  projected and quantised per request, an episode recorded per ranking unless it says otherwise.
- Outcome: \`engine.end\` of an episode with one exposure of ${FETCHED} recorded candidates and ${TAUGHT} shown: encoding, idempotency, reduction and state,
  in memory.
- Machine: ${machineText(hardware, versions)}; ${report.date}.
`;
}

function shownValue({ unit, value }: SpeedResult): string {
  if (unit === "µs") return `${value.mean.toFixed(1)} µs`;
  return `${value.mean.toFixed(3)} ±${value.margin.toFixed(3)}`;
}

function verdict({ value, target }: SpeedResult): string {
  if (target === undefined) return "";
  return value.mean <= target ? `within ${target}` : `ABOVE ${target}`;
}
