import { prune } from "@qavr/core/maintenance";
import type { LocalMemories } from "@qavr/local";
import { CommandError } from "../../exit-codes.js";
import { assertChosen } from "../../open-ledger.js";
import { plural, shown } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";
import { withNotes } from "./with-notes.js";

export async function run({ open, options }: Input): Promise<Output> {
  const { dryRun = false, yes = false } = options;
  if (dryRun === yes) {
    throw new CommandError("USAGE", "Give --dry-run to see what would be archived, or --yes to archive it.");
  }
  const ledger = await open(yes ? "write" : "read");
  assertChosen(ledger, options.namespace);
  const { engine, namespace } = ledger;
  const report = await withNotes(options, "existing", async (notes) =>
    prune(engine, await partOf(notes, namespace), { namespace, dryRun: dryRun === true }),
  );
  const known = (await engine.status({ namespace })).collections.map(({ collection }) => collection);
  const verb = report.dryRun ? "would be archived" : "archived";
  return {
    data: report,
    text: () =>
      [
        `${plural(report.archived.length, "note")} of ${report.memories} ${verb}.`,
        ...report.archived.map(({ id, score }) => `  ${score.toFixed(1)}  ${shown(id)}`),
        ...(known.length === 0 || known.includes(report.collection)
          ? []
          : [
              `Namespace ${shown(namespace)} has no collection ${shown(report.collection)}. It has: ${known.map((name) => shown(name)).join(", ")}. Name one with --collection.`,
            ]),
      ].join("\n"),
  };
}

/** The namespace's own part of the file. Without one, its agents are shown notes of the default part, and vote on these. */
async function partOf(notes: LocalMemories, namespace: string): Promise<LocalMemories> {
  const own = notes.of(namespace);
  const archived = await own.list({ archived: true, limit: 1 });
  return archived.memories.length > 0 || (await own.size()) > 0 ? own : notes;
}
