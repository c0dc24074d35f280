import type { Progress } from "@qavr/core/maintenance";
import type { Access, Ledger } from "../open-ledger.js";
import type { Style } from "../terminal/terminal.js";

/** Input of a command. */
export interface Input {
  /** The arguments in order. */
  readonly args: readonly string[];
  /** Options by their names in camel case, as commander gives them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Opens the ledger that the options name; it is closed when the command ends. */
  open(access?: Access): Promise<Ledger>;
  /** Starts a line of progress on standard error. */
  progress(label: string): Progress;
  /** Writes a line for people to standard error. */
  note(message: string): void;
}

/** Output of a command. */
export interface Output {
  /** For `--json`; docs/reference/cli.schema.json describes it. */
  readonly data: unknown;
  /** For people. */
  text(style: Style): string;
  readonly exitCode?: number;
  /** Of a command that goes on after its output: the ledger is closed when this resolves. */
  readonly ended?: Promise<void>;
}

/** A module of this folder. */
export interface CommandModule {
  /** @returns undefined for a command that writes to standard output by itself */
  run(input: Input): Promise<Output | undefined>;
}
