import { Writable } from "node:stream";
import { runProgram } from "../../src/program.js";

export interface Result {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process. */
export async function qavr(...args: string[]): Promise<Result> {
  const [stdout, stderr] = [collector(), collector()];
  const exitCode = await runProgram(args, { stdout: stdout.stream, stderr: stderr.stream });
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

/** The `data` of a command that succeeds with `--json`. */
export async function dataOf(...args: string[]): Promise<unknown> {
  const { stdout, stderr } = await qavr(...args, "--json");
  const printed = JSON.parse(stdout || "{}") as { readonly data?: unknown };
  if (printed.data === undefined) throw new Error(`${args.join(" ")} printed no data: ${stdout}${stderr}`);
  return printed.data;
}

function collector(): { readonly stream: Writable; text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join("") };
}
