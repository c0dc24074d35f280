import type { Example, ExampleList } from "./example.js";
import { oneLine } from "./prompt.js";
import type { Style } from "./style.js";

const TEXT_WIDTH = 42;

/** One request before and after learning, lesson by lesson, with the terms that add up to each place. */
export function explanation({ question, before, after, requests, gained, lost }: Example, style: Style): string {
  const chance = (list: ExampleList): string => percent(list.success);
  return [
    style.bold("One request before and after"),
    style.dim(
      `  Of ${requests} held-out requests ${gained} gained more than 5 points and ${lost} lost as much. A typical one that gained:`,
    ),
    `  “${oneLine(question)}”`,
    "",
    `  ${style.bold("before")}: ranked by similarity; a run with these lessons succeeds with ${chance(before)}`,
    `     ${"lesson filed under".padEnd(TEXT_WIDTH)}  similarity               hidden truth`,
    ...before.lessons.map(
      (lesson, place) =>
        `  ${place + 1}. ${cut(lesson.text)}  ${number(lesson.similarity)}${" ".repeat(19)}${truth(lesson.truth, style)}`,
    ),
    "",
    `  ${style.bold("after")}: ranked by qavr; ${chance(after)}`,
    `     ${"lesson filed under".padEnd(TEXT_WIDTH)}  similarity + learned  evidence  rank before  hidden truth`,
    ...after.lessons.map((lesson, place) => {
      const { similarity, learned = 0, evidence = 0, baseRank } = lesson;
      const terms = `${number(similarity)}     ${number(learned, true)}  ${evidence.toFixed(1).padStart(8)}  ${String(baseRank).padStart(11)}`;
      return `  ${place + 1}. ${cut(lesson.text)}  ${terms}  ${truth(lesson.truth, style)}`;
    }),
    style.dim(
      "  Lessons about something else fill places. A right answer wants a helpful lesson and no misleading one.",
    ),
  ].join("\n");
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function cut(text: string): string {
  const line = oneLine(text);
  return (line.length > TEXT_WIDTH ? `${line.slice(0, TEXT_WIDTH - 1)}…` : line).padEnd(TEXT_WIDTH);
}

function number(value: number, signed = false): string {
  return `${signed && value >= 0 ? "+" : ""}${value.toFixed(3)}`.padStart(10);
}

function truth(quality: string, style: Style): string {
  const shown = quality === "other" ? "about something else" : quality;
  if (quality === "helpful") return style.good(shown);
  if (quality === "misleading") return style.bad(shown);
  return style.dim(shown);
}
