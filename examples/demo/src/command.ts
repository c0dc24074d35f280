import { join } from "node:path";
import { startProgress, UsageError } from "@qavr/lab";
import { type DemoPlace, runDemo } from "./demo.js";
import { createFrame } from "./frame.js";
import { HELP, parseOptions } from "./options.js";

/** Standard output and error of the command. */
export interface CommandStreams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WriteStream;
}

/**
 * The demo as a command: results on stdout, everything else on stderr.
 *
 * @param folder where ledgers and plot go; emptied first. @default .qavr/demo in the current folder
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage
 */
export async function runCommand(
  args: readonly string[],
  { stdout, stderr }: CommandStreams,
  folder: string = join(".qavr", "demo"),
): Promise<number> {
  const place: DemoPlace = {
    folder,
    print: (text) => void stdout.write(`${text}\n`),
    progress: (label) => startProgress(label, stderr),
    frame: createFrame(stderr),
  };
  try {
    const options = parseOptions(args);
    if (options.help) stdout.write(HELP);
    else await runDemo(options, place);
    return 0;
  } catch (error) {
    stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}
