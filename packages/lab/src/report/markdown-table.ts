import type { Interval } from "../statistics/interval.js";

/** A Markdown table whose columns line up, so that it reads well as plain text too. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => pad(cells[column] ?? "", width, column)).join(" | ")} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** Names to the left, numbers to the right. */
function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

/** 0.123, with a true minus sign. */
export function plain(value: number, digits = 3): string {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** +0.123 or −0.123. */
export function signed(value: number, digits = 3): string {
  const text = plain(value, digits);
  return text.startsWith("−") ? text : `+${text}`;
}

/** +0.123 ±0.010; without the interval for a single seed. */
export function gainText(gain: Interval | undefined): string {
  if (!gain) return "";
  return gain.n > 1 ? `${signed(gain.mean)} ±${plain(gain.margin)}` : signed(gain.mean);
}

export function valueText(value: Interval | undefined): string {
  if (!value) return "";
  return value.n > 1 ? `${plain(value.mean)} ±${plain(value.margin)}` : plain(value.mean);
}

/** 1,234, without decimals. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** 1,234, 12.3 or 1.23: as many digits as a number of its size needs. */
export function rounded(value: number): string {
  if (Math.abs(value) >= 100) return whole(value);
  return plain(value, Math.abs(value) >= 10 ? 1 : 2);
}

/** 1.234 ±0.010. */
export function ratioText({ mean, margin }: Interval, digits = 3): string {
  return `${plain(mean, digits)} ±${plain(margin, digits)}`;
}
