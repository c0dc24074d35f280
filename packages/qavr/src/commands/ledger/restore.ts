import { assertFree, fileNamed } from "../../open-ledger.js";
import { count } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";

export async function run({ args }: Input): Promise<Output> {
  const { restoreBackup } = await import("@qavr/sqlite");
  const [from, to] = args.map(fileNamed) as [string, string];
  assertFree(to);
  const report = await restoreBackup(from, to);
  return { data: report, text: () => `${count(report.entries)} entries restored to ${report.path} and verified.` };
}
