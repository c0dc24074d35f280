import { count } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";

export async function run({ args }: Input): Promise<Output> {
  const { restoreBackup } = await import("@qavr/sqlite");
  const report = await restoreBackup(args[0] as string, args[1] as string);
  return { data: report, text: () => `${count(report.entries)} entries restored to ${report.path} and verified.` };
}
