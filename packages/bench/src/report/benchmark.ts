import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Machine, machine, machineText, parseFlags, runCommand } from "@qavr/lab";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));

/** Results with everything that a reader needs to repeat or doubt them. */
export type Report<Results> = Results & {
  readonly command: string;
  readonly date: string;
  readonly hardware: Machine;
  readonly versions: Readonly<Record<string, string>>;
};

/** A benchmark of docs/benchmarks: its page is `<name>.md`, its raw results are `<name>.json`. */
export interface Benchmark<Results extends object> {
  readonly name: string;
  /** Times and needs of both plans, for `--help`. */
  readonly help: string;
  /** Of everything that the numbers depend on, beside this repository. */
  versions(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** @param full long enough to be published; otherwise a short look */
  measure(full: boolean): Promise<Results>;
  /** Results for a terminal. */
  summary(results: Results): string;
  page(report: Report<Results>): string;
}

export function reportOf<Results extends object>(
  name: string,
  versions: Readonly<Record<string, string>>,
  results: Results,
): Report<Results> {
  const date = new Date().toISOString().slice(0, 10);
  return { command: `pnpm bench ${name} --full`, date, hardware: machine(), versions, ...results };
}

/** The last line of a page: where its numbers come from. */
export function originLine(name: string, { command, date, hardware, versions }: Report<object>): string {
  return `\`${command}\`, ${date}; ${machineText(hardware, versions)}. Raw results: [${name}.json](${name}.json).`;
}

/** Runs a benchmark as a command: a look by default, `--full` to publish, `--render` to write the page again. */
export function runBenchmark<Results extends object>(benchmark: Benchmark<Results>): Promise<void> {
  const { name, help } = benchmark;
  const command = `pnpm bench ${name}`;
  const write = async (report: Report<Results>): Promise<void> => {
    await writeFile(join(DOCS, `${name}.md`), benchmark.page(report));
    process.stderr.write(`written: docs/benchmarks/${name}.md\n`);
  };
  return runCommand(async () => {
    const { full, render, ...flags } = parseFlags(command, process.argv.slice(2), {
      full: { type: "boolean" },
      render: { type: "boolean" },
      help: { type: "boolean" },
    });
    if (flags.help) {
      process.stdout.write(`${command}            a look: results on stdout, written nowhere
${command} --full     writes docs/benchmarks/${name}.md and ${name}.json
${command} --render   writes the page again, from ${name}.json

${help}
`);
      return;
    }
    const raw = join(DOCS, `${name}.json`);
    if (render) return write(JSON.parse(await readFile(raw, "utf8")) as Report<Results>);
    const results = await benchmark.measure(full === true);
    process.stdout.write(`${benchmark.summary(results)}\n`);
    if (!full) return;
    const report = reportOf(name, await benchmark.versions(), results);
    await writeFile(raw, `${JSON.stringify(report, undefined, 2)}\n`);
    await write(report);
  });
}
