import type { SpeedResult } from "../speed/targets.js";

/** Says first what misses its target. */
export function missedLine(results: readonly SpeedResult[]): string {
  const missed = results.filter(misses);
  if (missed.length === 0) return "Every target is met in this run.";
  return `**Missed in this run: ${missed.map((result) => result.what).join("; ")}.**`;
}

/** Results against their targets as a Markdown table; what misses its target comes first. */
export function resultTable(results: readonly SpeedResult[]): string {
  const rows = [...results.filter(misses), ...results.filter((result) => !misses(result))];
  const target = (result: SpeedResult): string =>
    result.target === undefined ? "–" : `≤ ${result.target}${result.unit === "µs" ? " µs" : ""}`;
  return [
    "| measure | value (95 % interval over rounds) | target |",
    "|---|---|---|",
    ...rows.map((result) => `| ${result.what} | ${shownValue(result)} | ${target(result)} |`),
  ].join("\n");
}

/** Results as lines of equal width, for a terminal. */
export function resultLines(results: readonly SpeedResult[]): readonly string[] {
  const width = Math.max(...results.map((result) => result.what.length));
  return results.map(
    (result) => `${result.what.padEnd(width)}  ${shownValue(result).padStart(15)}  ${verdict(result)}`,
  );
}

export function misses({ target, value }: SpeedResult): boolean {
  return target !== undefined && value.mean > target;
}

function shownValue({ unit, value }: SpeedResult): string {
  if (unit === "µs") return `${value.mean.toFixed(1)}${value.margin === 0 ? "" : ` ±${value.margin.toFixed(1)}`} µs`;
  return `${value.mean.toFixed(3)} ±${value.margin.toFixed(3)}`;
}

function verdict({ value, target }: SpeedResult): string {
  if (target === undefined) return "";
  return value.mean <= target ? `within ${target}` : `ABOVE ${target}`;
}
