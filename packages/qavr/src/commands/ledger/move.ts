import { isPostgres, locationOf } from "@qavr/core/adapter";
import { assertMovable, moveToFile, moveToServer } from "../../move-ledger.js";
import { count, plural } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";

export async function run({ open, options, progress }: Input): Promise<Output> {
  const from = await open();
  await assertMovable(from.store);
  const to = locationOf(options.to as string);
  const move = isPostgres(to) ? moveToServer : moveToFile;
  const { place, ...report } = await move(from, to, progress("copying entries"));
  return {
    data: { ...report, from: from.place, to: place },
    text: () =>
      `${count(report.entries)} entries of ${plural(report.namespaces, "namespace")} are in ${place} now, and verified. ${from.place} is unchanged.`,
  };
}
