import { CommandError } from "../../exit-codes.js";
import { assertMovable, moveLedger } from "../../move-ledger.js";
import { openStore } from "../../open-ledger.js";
import { count, plural } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";

export async function run({ open, options, progress }: Input): Promise<Output> {
  const from = await open();
  await assertMovable(from.store);
  const { store: to, place } = await openStore(options.to as string, "create");
  try {
    if (place === from.place) throw new CommandError("USAGE", "--to names the same ledger.");
    const report = await moveLedger(from.store, to, progress("copying entries"));
    return {
      data: { ...report, from: from.place, to: place },
      text: () =>
        `${count(report.entries)} entries of ${plural(report.namespaces, "namespace")} are in ${place} now, and verified. ${from.place} is unchanged.`,
    };
  } finally {
    await to.close();
  }
}
