import { CommandError } from "../../exit-codes.js";
import type { Input, Output } from "../command.js";
import { withNotes } from "./with-notes.js";

export async function run({ args, options }: Input): Promise<Output> {
  const [text = ""] = args;
  if (text.trim() === "") throw new CommandError("USAGE", "The note is empty. Give its text in quotes.");
  const { id } = options as { readonly id?: string };
  const [added = ""] = await withNotes(options, "create", (notes) => notes.add(id === undefined ? text : { id, text }));
  return { data: { id: added }, text: () => `Kept as ${added}.` };
}
