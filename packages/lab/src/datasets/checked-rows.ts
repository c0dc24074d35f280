import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { QavrError } from "@qavr/core";

/**
 * The lines of a JSON Lines file whose bytes are known.
 *
 * @throws INVALID_STATE when the file is not byte for byte the one that results are published for.
 */
export async function checkedRows<Row>(file: URL, expected: string): Promise<Row[]> {
  const bytes = await readFile(file);
  const received = createHash("sha256").update(bytes).digest("hex");
  if (received !== expected) {
    const name = file.pathname.split("/").at(-1) as string;
    throw new QavrError(
      "INVALID_STATE",
      `The dataset file ${name} was changed. Restore it: its sha256 must be ${expected}.`,
      { details: { file: name, expected, received } },
    );
  }
  return bytes
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
}
