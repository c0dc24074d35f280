/** One line of a comparison. */
export interface Row {
  readonly question: string;
  readonly before: string;
  readonly after: string;
}

/** Prints what was said before anything was learned and after, with the number of right answers below. */
export function printTable(rows: readonly Row[], isRight: (question: string, answer: string) => boolean): void {
  const mark = (question: string, answer: string): string => `${isRight(question, answer) ? "✓" : "✗"} ${answer}`;
  const right = (side: "before" | "after"): string =>
    `${rows.filter((row) => isRight(row.question, row[side])).length} of ${rows.length}`;
  const lines = [
    ["", "before", "after"],
    ...rows.map(({ question, before, after }) => [question, mark(question, before), mark(question, after)]),
    ["right", right("before"), right("after")],
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((cells) => (cells[column] as string).length)));
  for (const cells of lines) {
    process.stdout.write(
      `${cells
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
}
