import type { ExposureView } from "@qavr/core";

const EIGHTHS = "▁▂▃▄▅▆▇█";

/** Characters that move the cursor, colour the screen, or turn the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to take out
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Stored text as a terminal may show it, on one line. */
export function shown(text: string, most = 80): string {
  const safe = text.replace(UNSAFE, "�");
  // Without half of a character of two code units, which no terminal shows and no shell takes.
  return safe.length <= most ? safe : `${safe.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A message as a terminal may show it, on its own lines. It may hold names of the ledger. */
export function shownLines(message: string): string {
  return message
    .split("\n")
    .map((line) => shown(line, Number.POSITIVE_INFINITY))
    .join("\n");
}

/** JSON that a terminal may show: JSON itself escapes a part of the unsafe characters only. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNSAFE, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A word for a POSIX shell. Quoted where it needs to be. */
export function quoted(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The words of a memory: its label, else its id. */
export function nameOf({ id, label }: { readonly id: string; readonly label?: string | undefined }, most = 60): string {
  return shown(label ?? id, most);
}

/** The order that a retrieval showed, in words, with the context that it named. */
export function orderOf({
  order,
  heldOut,
  memoryOff,
  context,
}: Pick<ExposureView, "order" | "heldOut" | "memoryOff" | "context">): string {
  const named = context === "default" ? "" : `, context ${shown(context)}`;
  if (memoryOff) return `memory off: nothing was shown${named}`;
  if (heldOut) return `held out: the host's order stands${named}`;
  return `${order === "learned" ? "learned order" : "the host's order"}${named}`;
}

/** Values in [0, 1] as a line of bars. */
export function sparkline(values: readonly number[]): string {
  return values.map((value) => EIGHTHS[Math.min(7, Math.max(0, Math.floor(value * 8)))]).join("");
}

/** Columns, aligned: numbers to the right. The last column is not padded. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const numeric = head.map(
    (_, column) =>
      rows.length > 0 &&
      rows.every((row) => typeof row[column] === "number" || /^[+−-]?[\d.,–%\s…]*$/.test(String(row[column] ?? ""))),
  );
  return cells
    .map((row) =>
      row
        .map((cell, column) => {
          if (numeric[column]) return cell.padStart(widths[column] as number);
          return column === row.length - 1 ? cell : cell.padEnd(widths[column] as number);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}

export function plural(number: number, noun: string, nouns = `${noun}s`): string {
  return `${count(number)} ${number === 1 ? noun : nouns}`;
}

/** A number with a true minus sign. */
export function decimal(value: number, digits = 3): string {
  return value.toFixed(digits).replace("-", "−");
}

/** A difference with its sign. */
export function signed(value: number, digits = 3): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

/** A share in [0, 1], in per cent. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** A difference of shares, in percentage points. */
export function points(difference: number): string {
  return signed(difference * 100, 1);
}

/** Unix ms as UTC, to the minute. */
export function time(at: number): string {
  // Clocks may be wrong: an entry's time can be any number.
  return Math.abs(at) < 8.64e15 ? `${new Date(at).toISOString().slice(0, 16).replace("T", " ")}` : "?";
}
