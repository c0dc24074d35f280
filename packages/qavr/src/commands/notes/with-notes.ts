import type { LocalMemories } from "@qavr/local";
import { CommandError } from "../../exit-codes.js";
import { fileNamed, isMissing } from "../../open-ledger.js";
import type { Input } from "../command.js";

/** The default of `localMemories`. */
const DEFAULT_FILE = ".qavr/memories.db";

/**
 * Opens the file of own memories that the options name, and closes it after the work.
 *
 * @param access `create` makes the file where there is none
 * @throws CommandError NOT_FOUND for a file that does not exist, USAGE for a URL
 */
export async function withNotes<Result>(
  options: Input["options"],
  access: "existing" | "create",
  work: (notes: LocalMemories) => Promise<Result>,
): Promise<Result> {
  const { file: named = DEFAULT_FILE, collection } = options as {
    readonly file?: string;
    readonly collection?: string;
  };
  const file = fileNamed(named);
  if (access === "existing" && isMissing(file)) {
    const message = `There is no file ${file}. Name another with --file, or add a note with npx qavr notes add.`;
    throw new CommandError("NOT_FOUND", message);
  }
  // Loaded here: @qavr/local needs a newer Node than the other commands.
  const { localMemories } = await import("@qavr/local");
  const notes = localMemories({ path: file, name: collection });
  try {
    return await work(notes);
  } finally {
    await notes.close();
  }
}
