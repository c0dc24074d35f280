import { QavrError } from "@qavr/core";
import { Command, CommanderError, Option } from "commander";
import { COMMANDS, type CommandEntry, DESCRIPTION, GROUPS } from "./command-list.js";
import { CommandError, EXIT, exitCodeOf } from "./exit-codes.js";
import { runModule } from "./run-module.js";
import { createStyle, progressOn, type Streams } from "./terminal/terminal.js";
import { safeJson, shownLines } from "./terminal/text.js";
import { versionOf } from "./version.js";

/** Version of what `--json` prints. */
const SCHEMA = 1;

/** Options that every command has. */
interface CommonOptions {
  readonly store?: string;
  readonly namespace?: string;
  readonly json?: boolean;
  readonly color: boolean;
}

/** Runs a command line: data on stdout, everything else on stderr. Returns the exit code. */
export async function runProgram(args: readonly string[], streams: Streams): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = createProgram(streams, async (entry, given, options) => {
    exitCode = await runCommand(entry, given, options, streams);
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for is no failure; commander has printed its message already.
    if (error.exitCode === 0) return EXIT.ok;
    const isHelp = error.code === "commander.help";
    const message = isHelp ? "Name a command: npx qavr --help lists them." : error.message.replace(/^error: /, "");
    if (args.includes("--json")) printError(commandOf(args), "USAGE", message, streams);
    return EXIT.usage;
  }
}

/** The command or the group that a command line begins with; empty without one. */
function commandOf([first = "", second = ""]: readonly string[]): string {
  const both = `${first} ${second}`;
  if (COMMANDS.some(({ name }) => name === both)) return both;
  return first.startsWith("-") ? "" : first;
}

type Action = (entry: CommandEntry, args: readonly string[], options: CommonOptions) => Promise<void>;

function createProgram({ stdout, stderr }: Streams, action: Action): Command {
  const program = new Command("qavr")
    .description(DESCRIPTION)
    .version(versionOf(), "-V, --version")
    .exitOverride()
    .showHelpAfterError("(npx qavr --help lists the commands)")
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .addHelpText("after", "\nExamples:\n  npx qavr status\n  npx qavr why 4f1c… --store postgres://localhost/app");
  const parents = new Map<string, Command>([["", program]]);
  for (const [name, summary] of Object.entries(GROUPS)) {
    parents.set(name, program.command(name).description(summary).copyInheritedSettings(program));
  }
  for (const entry of COMMANDS) {
    const [group = "", name = group] = entry.name.includes(" ") ? entry.name.split(" ") : ["", entry.name];
    const command = (parents.get(group) as Command).command(`${name} ${entry.args ?? ""}`.trim());
    command.description(entry.summary).copyInheritedSettings(program);
    for (const option of entry.options ?? []) command.addOption(option);
    if (entry.opensLedger !== false) {
      command.addOption(
        new Option(
          "-s, --store <place>",
          "path of a SQLite ledger, or postgres:// URL (default: QAVR_STORE, else .qavr/ledger.db)",
        ),
      );
      command.addOption(new Option("-n, --namespace <name>", "scope of learning (default: default, else the largest)"));
    }
    command.option("--json", "print JSON, one object, in a documented form");
    command.option("--no-color", "plain text; also with NO_COLOR, TERM=dumb, or into a pipe");
    command.addHelpText("after", `\nExamples:\n${entry.examples.map((example) => `  npx qavr ${example}`).join("\n")}`);
    command.action(() => action(entry, command.args, command.opts<CommonOptions>()));
  }
  return program;
}

async function runCommand(
  entry: CommandEntry,
  args: readonly string[],
  options: CommonOptions,
  streams: Streams,
): Promise<number> {
  const lines: (() => void)[] = [];
  const given = {
    args,
    options: { ...options },
    progress(label: string) {
      const progress = progressOn(streams.stderr, label);
      lines.push(progress.end);
      return progress.to;
    },
    note: (message: string) => void streams.stderr.write(`${shownLines(message)}\n`),
  };
  try {
    return await runModule(await entry.load(), given, async (output) => {
      for (const end of lines.splice(0)) end();
      if (!output) return EXIT.ok;
      const { data, text, ended, exitCode = EXIT.ok } = output;
      const style = createStyle(streams.stdout, options.color);
      streams.stdout.write(options.json ? envelope(entry.name, { data }) : `${text(style)}\n`);
      await ended;
      return exitCode;
    });
  } catch (error) {
    for (const end of lines) end();
    const code = error instanceof CommandError || QavrError.isInstance(error) ? error.code : "UNEXPECTED";
    const message = error instanceof Error ? error.message : String(error);
    if (options.json) printError(entry.name, code, message, streams);
    streams.stderr.write(`error: ${shownLines(message)}\n`);
    return exitCodeOf(error);
  }
}

function printError(command: string, code: string, message: string, { stdout }: Streams): void {
  stdout.write(envelope(command, { error: { code, message } }));
}

function envelope(command: string, content: object): string {
  return `${safeJson({ schema: SCHEMA, command, ...content }, 2)}\n`;
}
