import { DATASET_NAMES, type DatasetName, parseFlags, UsageError } from "@qavr/lab";
import { ROWS } from "./rows.js";
import { SCENARIO_NAMES, type ScenarioName } from "./scenarios.js";

const COMMAND = "pnpm bench learning";

/** Options of the command line. */
export interface LearningOptions {
  /** `full` and `render` write docs/benchmarks; `part` writes only where `out` says; `quick` is the guard and writes nowhere. */
  readonly mode: "full" | "quick" | "part" | "render";
  readonly rows: readonly string[] | undefined;
  readonly sets: readonly DatasetName[] | undefined;
  readonly scenarios: readonly ScenarioName[] | undefined;
  readonly seeds: readonly number[] | undefined;
  /** Folder for page, plots and raw results. */
  readonly out: string | undefined;
  /** True if a part's results replace those of the same rows and worlds in the folder. */
  readonly update: boolean;
  readonly help: boolean;
}

export const HELP: string = `${COMMAND}                      everything; writes docs/benchmarks/learning.* (an hour on two cores)
${COMMAND} --quick              the guard of continuous integration: exit code 1 when the default learner got worse
${COMMAND} --rows cav,qavr      a part: tables on stdout, written nowhere unless --out says so

  --rows <names>       ${wrapped(ROWS.map((row) => row.name))}
  --sets <names>       ${wrapped(DATASET_NAMES)} (a part's default: banking77)
  --scenarios <names>  ${wrapped(SCENARIO_NAMES)} (a part's default: main)
  --seeds <list>       1-8 or 101,102 (a part's default: 1-4). Tune with seeds above 100.
  --update             put a part's results in place of those in docs/benchmarks, or in --out; the others stay
  --out <folder>       write page, plots and raw results there
  --render             make page and plots again from the raw results in docs/benchmarks, or in --out
  --help               this page

Every row is compared with similarity on the same worlds, which is run along. Results go to stdout, progress to stderr.
`;

/** @throws UsageError for an unknown option, an unknown name or a value outside its range */
export function parseOptions(args: readonly string[]): LearningOptions {
  const values = parseFlags(COMMAND, args, {
    quick: { type: "boolean" },
    render: { type: "boolean" },
    rows: { type: "string" },
    sets: { type: "string" },
    scenarios: { type: "string" },
    seeds: { type: "string" },
    out: { type: "string" },
    update: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  });
  const rowNames = ROWS.map((row) => row.name);
  const filters = {
    rows: names("--rows", values.rows, rowNames),
    sets: names("--sets", values.sets, DATASET_NAMES),
    scenarios: names("--scenarios", values.scenarios, SCENARIO_NAMES),
    seeds: values.seeds === undefined ? undefined : seedList(values.seeds),
  };
  const filtered = Object.entries(filters).find(([, value]) => value !== undefined)?.[0];
  if (values.quick && values.render) throw wrong("--quick and --render exclude each other.");
  for (const flag of ["quick", "render"] as const) {
    if (values[flag] && filtered) throw wrong(`--${flag} takes no --${filtered}: its runs are fixed.`);
  }
  if (values.update && !filtered) throw wrong("--update takes a part, such as --rows.");
  if (values.quick && values.out !== undefined) throw wrong("--quick writes nothing; leave --out away.");
  return {
    mode: values.quick ? "quick" : values.render ? "render" : filtered ? "part" : "full",
    ...filters,
    out: values.out,
    update: values.update === true,
    help: values.help === true,
  };
}

function names<Name extends string>(
  flag: string,
  text: string | undefined,
  known: readonly Name[],
): readonly Name[] | undefined {
  if (text === undefined) return undefined;
  const asked = text.split(",").map((name) => name.trim());
  const unknown = asked.filter((name) => !(known as readonly string[]).includes(name));
  if (unknown.length > 0) throw wrong(`${flag} knows ${known.join(", ")}. Received ${unknown.join(", ")}.`);
  // In the order of the tables, each once.
  return known.filter((name) => asked.includes(name));
}

const MOST_SEEDS = 1000;

/** `1-8`, `101,102`, `1-3,7`. */
function seedList(text: string): readonly number[] {
  const seeds = new Set<number>();
  for (const part of text.split(",")) {
    const [, from, to = from] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part) ?? [];
    const [low, high] = [Number(from), Number(to)];
    if (!(low >= 1 && high >= low && high - low < MOST_SEEDS)) {
      throw wrong(`--seeds must be a list such as 1-8 or 101,102, at least 1. Received ${text}.`);
    }
    for (let seed = low; seed <= high; seed++) seeds.add(seed);
  }
  return [...seeds].sort((a, b) => a - b);
}

function wrong(reason: string): UsageError {
  return new UsageError(`${reason} See ${COMMAND} --help.`);
}

/** Names over several lines, indented under the first. */
function wrapped(all: readonly string[]): string {
  const lines: string[] = [];
  for (const name of all) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + name.length < 90) lines[lines.length - 1] = `${last}, ${name}`;
    else lines.push(name);
  }
  return lines.join(`,\n${" ".repeat(23)}`);
}
