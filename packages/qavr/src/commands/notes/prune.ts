import { prune } from "@qavr/core/maintenance";
import { CommandError } from "../../exit-codes.js";
import { plural, shown } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";
import { withNotes } from "./with-notes.js";

export async function run({ open, options }: Input): Promise<Output> {
  const { dryRun = false, yes = false } = options;
  if (dryRun === yes) {
    throw new CommandError("USAGE", "Give --dry-run to see what would be archived, or --yes to archive it.");
  }
  const { engine, namespace } = await open(yes ? "write" : "read");
  const report = await withNotes(options, "existing", (notes) =>
    prune(engine, notes, { namespace, dryRun: dryRun === true }),
  );
  const verb = report.dryRun ? "would be archived" : "archived";
  return {
    data: report,
    text: () =>
      [
        `${plural(report.archived.length, "note")} of ${report.memories} ${verb}.`,
        ...report.archived.map(({ id, score }) => `  ${score.toFixed(1)}  ${shown(id)}`),
      ].join("\n"),
  };
}
