import { decimal, shown, table } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";
import { withNotes } from "./with-notes.js";

export async function run({ args, options }: Input): Promise<Output> {
  const { limit } = options as { readonly limit: number };
  const found = await withNotes(options, "existing", (notes) => notes.search({ text: args.join(" "), limit }));
  const rows = found.map(({ id, text, similarity }) => ({ id, text, similarity }));
  return {
    data: { notes: rows },
    text: () =>
      rows.length === 0
        ? "No note has one of these words."
        : table(
            ["similarity", "note", "id"],
            rows.map(({ id, text, similarity }) => [decimal(similarity, 2), shown(text), shown(id, 40)]),
          ),
  };
}
