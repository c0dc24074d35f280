import { compact } from "@qavr/core/maintenance";
import { CommandError } from "../../exit-codes.js";
import { assertChosen } from "../../open-ledger.js";
import { count, shown } from "../../terminal/text.js";
import { assertSameOptions } from "../../untold-options.js";
import type { Input, Output } from "../command.js";

const DAY = 86_400_000;

export async function run({ open, options, progress }: Input): Promise<Output> {
  const { olderThan, yes } = options as { readonly olderThan: number; readonly yes?: boolean };
  if (yes !== true) {
    const message = `Entries older than ${olderThan} days go for good, and can be neither revoked nor compared then. Make a backup, and give --yes.`;
    throw new CommandError("USAGE", message);
  }
  const ledger = await open("write");
  assertChosen(ledger, options.namespace);
  const { engine, namespace } = ledger;
  await assertSameOptions(engine, { namespace });
  const report = await compact(engine, {
    namespace,
    olderThan: olderThan * DAY,
    progress: progress("checking entries"),
  });
  return {
    data: report,
    text: () =>
      `${count(report.dropped)} entries of namespace ${shown(namespace)} dropped, ${count(report.entries)} left. What was learned is unchanged.`,
  };
}
