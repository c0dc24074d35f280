import { fromMarkdown } from "mdast-util-from-markdown";

type Block = ReturnType<typeof fromMarkdown>["children"][number];

/** Markup inside a line changes no place of a heading, and reading much of it takes the parser the square of its length. */
const INLINE = [
  "attention",
  "autolink",
  "characterEscape",
  "characterReference",
  "codeText",
  "hardBreakEscape",
  "htmlText",
  "labelEnd",
  "labelStartImage",
  "labelStartLink",
];

/** A line that begins with 32 lists and quotes inside each other. Ten thousand take the parser a minute. Rules of stars or dashes are none. */
const DEEP = /^(?![ \t]*([-*])(?:[ \t]*\1)*[ \t]*$)((?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))){32})(.*)/gm;

/** The blocks of a Markdown text outside lists and quotes, at their places. Markup inside their lines is not read. */
export function blocksOf(text: string): readonly Block[] {
  const shallow = text.replace(DEEP, (_, __, markers: string, rest: string) => markers + "x".repeat(rest.length));
  return fromMarkdown(shallow, { extensions: [{ disable: { null: INLINE } }] }).children;
}
