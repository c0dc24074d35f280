import { parseFlags, UsageError } from "@qavr/lab";

/** Options of the command line. */
export interface DemoOptions {
  /** Seeds 1 … n. */
  readonly seeds: number;
  /** Requests to learn from, per seed. */
  readonly runs: number;
  readonly colour: boolean;
  readonly json: boolean;
  /** A second place for the plot, besides the run's own folder. */
  readonly plot: string | undefined;
  readonly help: boolean;
}

export const HELP = `pnpm demo                          one seed, about a minute
pnpm demo --seeds 8                means of eight seeds with 95 % intervals

A LangChain chain answers real bank questions with lessons from a vector store, three times on the same
stream: ranked by plain similarity, by the QAVR formula, and by qavr. Texts are real; the model is simulated.

  --seeds <n>     seeds 1 … n, 1 to 100 (default 1)
  --runs <n>      requests to learn from, 20 to 6000 (default 3000)
  --plot <file>   write the plot here too (SVG)
  --json          one JSON object on stdout instead of the table
  --no-color      plain text; also when NO_COLOR is set or the output is no terminal
  --help          this page
`;

/** @throws UsageError for an unknown option or a value outside its range */
export function parseOptions(args: readonly string[]): DemoOptions {
  const values = parseFlags("pnpm demo", args, {
    seeds: { type: "string" },
    runs: { type: "string" },
    plot: { type: "string" },
    json: { type: "boolean" },
    "no-color": { type: "boolean" },
    help: { type: "boolean", short: "h" },
  });
  return {
    seeds: whole("--seeds", values.seeds, { low: 1, high: 100, fallback: 1 }),
    runs: whole("--runs", values.runs, { low: 20, high: 6000, fallback: 3000 }),
    colour: values["no-color"] !== true,
    json: values.json === true,
    plot: values.plot,
    help: values.help === true,
  };
}

function whole(
  name: string,
  text: string | undefined,
  { low, high, fallback }: { readonly low: number; readonly high: number; readonly fallback: number },
): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new UsageError(
    `${name} must be a whole number from ${low} to ${high}. Received ${text}. See pnpm demo --help.`,
  );
}
