import type { Input, Output } from "../command.js";
import { withNotes } from "./with-notes.js";

export async function run({ args, options }: Input): Promise<Output> {
  const [text = ""] = args;
  const { id } = options as { readonly id?: string };
  const [added = ""] = await withNotes(options, "create", (notes) => notes.add(id === undefined ? text : { id, text }));
  return { data: { id: added }, text: () => `Kept as ${added}.` };
}
