import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** A mistake in the command line; its message says what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The values of a command's options, as {@link parseArgs} gives them. */
export type Flags<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

/**
 * @param command as people type it, for the advice in errors
 * @throws UsageError for an option that the command does not have
 */
export function parseFlags<const Options extends ParseArgsOptionsConfig>(
  command: string,
  args: readonly string[],
  options: Options,
): Flags<Options> {
  try {
    return parseArgs({ args: args.filter((arg) => arg !== "--"), options }).values;
  } catch (error) {
    // Node's message ends with advice about positional arguments that does not fit here.
    const [reason] = (error as Error).message.split(". To specify");
    throw new UsageError(`${reason}. See ${command} --help.`);
  }
}

/** Runs a command. A mistake in its command line is printed in one line, with exit code 2; anything else is thrown. */
export async function runCommand(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
