import { readFile } from "node:fs/promises";
import { CommandError } from "../../exit-codes.js";
import { assertImportable, importLearnedFile, readLearnedFile } from "../../learned-file.js";
import { plural, shown } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";

export async function run({ open, args, options }: Input): Promise<Output> {
  const [path = ""] = args;
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError("NOT_FOUND", `The file ${path} cannot be read: ${error.code}.`);
  });
  const file = readLearnedFile(text);
  await assertImportable(file, options.namespace as string | undefined);
  const ledger = await open("create");
  await importLearnedFile(ledger, file);
  const { collection, memories, learner } = file;
  return {
    data: { namespace: ledger.namespace, collection, learner, memories: memories.length },
    text: () =>
      `What was learned of ${plural(memories.length, "memory", "memories")} is in collection ${shown(collection)} of namespace ${shown(ledger.namespace)} now.`,
  };
}
