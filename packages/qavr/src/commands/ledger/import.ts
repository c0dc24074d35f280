import { readFile } from "node:fs/promises";
import { CommandError } from "../../exit-codes.js";
import { assertImportable, importLearnedFile, readLearnedFile } from "../../learned-file.js";
import { assertChosen } from "../../open-ledger.js";
import { plural, shown } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";

/** Its byte order mark. */
const UTF_16 = Buffer.from([0xff, 0xfe]);

export async function run({ open, args, options }: Input): Promise<Output> {
  const [path = ""] = args;
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError("NOT_FOUND", `The file ${path} cannot be read: ${error.code}.`);
  });
  // Windows PowerShell's > writes UTF-16.
  const encoding = bytes.subarray(0, 2).equals(UTF_16) ? "utf-16le" : "utf-8";
  const file = readLearnedFile(new TextDecoder(encoding).decode(bytes));
  await assertImportable(file, options.namespace as string | undefined);
  const ledger = await open("create");
  assertChosen(ledger, options.namespace);
  await importLearnedFile(ledger, file);
  const { collection, memories, learner } = file;
  return {
    data: { namespace: ledger.namespace, collection, learner, memories: memories.length },
    text: () =>
      `What was learned of ${plural(memories.length, "memory", "memories")} is in collection ${shown(collection)} of namespace ${shown(ledger.namespace)} now.`,
  };
}
