import type { LocalMemories } from "@qavr/local";
import type { Input } from "../command.js";

/** Opens the file of own memories that the options name, and closes it after the work. */
export async function withNotes<Result>(
  options: Input["options"],
  work: (notes: LocalMemories) => Promise<Result>,
): Promise<Result> {
  const { file } = options as { readonly file?: string };
  // Loaded here: @qavr/local needs a newer Node than the other commands.
  const { localMemories } = await import("@qavr/local");
  const notes = localMemories(file === undefined ? {} : { path: file });
  try {
    return await work(notes);
  } finally {
    await notes.close();
  }
}
