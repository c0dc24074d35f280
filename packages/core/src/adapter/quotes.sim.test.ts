import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findQuotes } from "./quotes.js";

const DOCS = join(import.meta.dirname, "../../../../docs");

interface Section {
  readonly id: string;
  readonly page: string;
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

/** The pages' prose in pieces of at most 2,000 characters. */
function sections(): Section[] {
  const pages = readdirSync(DOCS, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".md") && !name.startsWith("benchmarks"),
  );
  return pages.flatMap((page) => {
    const prose = readFileSync(join(DOCS, page), "utf8").replaceAll(/```[\s\S]*?```|<!--[\s\S]*?-->/g, " ");
    const pieces = prose.split(/\n(?=#)/).filter((piece) => piece.length > 200);
    return pieces.map((piece, i) => {
      const text = piece.slice(0, 2_000);
      return { id: `${page}#${i}`, page, text, words: new Set(text.toLowerCase().match(/\p{L}{4,}/gu)) };
    });
  });
}

/** The five sections of other pages that share most words with this one: what a search would show. */
function nearest(section: Section, all: readonly Section[]): Section[] {
  const shared = ({ words }: Section): number =>
    [...words].filter((word) => section.words.has(word)).length / Math.sqrt(words.size);
  return all
    .filter(({ page }) => page !== section.page)
    .sort((a, b) => shared(b) - shared(a))
    .slice(0, 5);
}

it("quotes are told from the repeated phrases of one author", ({ annotate }) => {
  const all = sections();
  let [right, missed, wrong, similar, unused] = [0, 0, 0, 0, 0];
  all.forEach((section, i) => {
    const shown = nearest(section, all);
    // A section of the same author about the same subject, in which nothing is quoted.
    similar += findQuotes(section.text, shown, []).length;
    unused += shown.length;
    // An answer in other words around one sentence of a memory that is long enough to be found.
    const memory = shown[i % shown.length] as Section;
    const sentences = memory.text.match(/[^.!?]{60,}[.!?]/g) ?? [];
    const sentence = sentences[i % sentences.length] ?? memory.text;
    const found = findQuotes(`As the notes say: ${sentence.toUpperCase()} Is that enough for you?`, shown, []);
    if (found.includes(memory.id)) right += 1;
    else missed += 1;
    wrong += found.filter((id) => id !== memory.id).length;
  });
  const numbers = { precision: right / (right + wrong), recall: right / (right + missed), similar: similar / unused };
  annotate(JSON.stringify({ sections: all.length, ...numbers }));
  expect(numbers.precision).toBeGreaterThan(0.97);
  expect(numbers.recall).toBeGreaterThan(0.4);
  expect(numbers.similar).toBeLessThan(0.02);
});
