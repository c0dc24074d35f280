import { blocksOf } from "./blocks.js";

/** A lesson as its file has it: a heading `### [date] title` and the text below it, up to the next line that begins with one to three `#`. */
export interface Section {
  /** ISO date, as in 2026-01-31. */
  readonly date: string;
  /** Without line breaks and repeated spaces. */
  readonly title: string;
  /** Markdown, trimmed, without the line of the confidence. */
  readonly body: string;
  /** The number of a first line `confidence: 0.9`; undefined without one. Not checked. */
  readonly confidence: number | undefined;
}

/** Most characters of a lesson, title and body; a collection keeps no longer text. */
export const LONGEST_LESSON = 900_000;

// Formatters escape brackets, which are the same text to Markdown.
const HEADING = /^\\?\[(\d{4}-\d{2}-\d{2})\\?\] (.+)$/;
const CONFIDENCE = /^confidence: *(-?\d*\.?\d+(?:e[-+]?\d+)?)[^\S\n]*(?:\r?\n|\r|$)/i;

/**
 * The lessons of a Markdown text, in order. Headings in code, quotes, lists and HTML are none, and neither are those without a date.
 * Duplicate headings are lessons of their own.
 */
export function sectionsOf(source: string): Section[] {
  // The parser leaves a byte order mark out of its positions.
  const text = source.replace(/^\uFEFF/, "");
  const headings = blocksOf(text).flatMap((node) => {
    if (node.type !== "heading" || node.depth > 3 || !node.position) return [];
    // Text above a line of dashes or equals signs is a heading as well: mostly a separator without an empty line, or a merge conflict.
    if (text[node.position.start.offset as number] !== "#") return [];
    const start = node.children[0]?.position?.start.offset;
    const end = node.children.at(-1)?.position?.end.offset;
    // Markup in a title stays, so its place in the source counts, not its text.
    const title = start === undefined ? "" : text.slice(start, end);
    return [{ depth: node.depth, title, start: node.position.start.offset, end: node.position.end.offset }];
  });
  return headings.flatMap(({ depth, title: written, end }, i) => {
    const [, date = "", title = ""] = HEADING.exec(written.replace(/\s+/g, " ")) ?? [];
    if (depth !== 3 || title === "" || !isDate(date)) return [];
    const below = text.slice(end, headings[i + 1]?.start).trim();
    const [line, confidence] = CONFIDENCE.exec(below) ?? [];
    return [
      {
        date,
        title,
        body: below.slice(line?.length ?? 0).trim(),
        confidence: confidence === undefined ? undefined : Number(confidence),
      },
    ];
  });
}

/** True for a day that exists, as in 2026-01-31. */
export function isDate(text: string): boolean {
  const time = Date.parse(text);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
