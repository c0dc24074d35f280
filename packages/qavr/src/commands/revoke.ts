import { type RevokeOptions, revoke } from "@qavr/core/maintenance";
import { CommandError } from "../exit-codes.js";
import { assertChosen } from "../open-ledger.js";
import { readRuns } from "../reports/judged-runs.js";
import { plural, shown } from "../terminal/text.js";
import { assertSameOptions } from "../untold-options.js";
import type { Input, Output } from "./command.js";

/** Sources that are named where there is none of a given name. */
const MOST_SOURCES = 20;

export async function run({ open, options, progress }: Input): Promise<Output> {
  const { source, from, to, fromSeq, toSeq, dryRun = false, yes = false } = options;
  if (dryRun === yes) {
    throw new CommandError(
      "USAGE",
      "Give --dry-run to see what would change, or --yes to take the outcomes out for good.",
    );
  }
  const ledger = await open(yes ? "write" : "read");
  assertChosen(ledger, options.namespace);
  const { engine, namespace } = ledger;
  await assertSameOptions(engine, { namespace });
  const conditions = Object.entries({ source, from, to, fromSeq, toSeq }).filter(([, value]) => value !== undefined);
  const report = await revoke(engine, {
    namespace,
    ...Object.fromEntries(conditions),
    dryRun: dryRun === true,
    progress: progress("building states"),
  } as RevokeOptions);
  const { outcomes, episodes, memories } = report;
  if (outcomes === 0 && source !== undefined) {
    const { sources } = await readRuns(ledger);
    if (!sources.includes(source as string)) {
      const named = sources.slice(0, MOST_SOURCES).map((name) => shown(name));
      const has = named.length === 0 ? "none" : `${named.join(", ")}${sources.length > MOST_SOURCES ? " …" : ""}`;
      const where = `Namespace ${shown(namespace)} has no outcome of the source ${source}.`;
      return { data: report, text: () => `${where} Its sources: ${has}.` };
    }
  }
  const verb = report.dryRun ? "would be revoked" : "revoked";
  return {
    data: report,
    text: () =>
      `${plural(outcomes, "outcome")} of ${plural(episodes, "run")} in namespace ${shown(namespace)} ${verb}; ${plural(memories, "memory state")} ${report.dryRun ? "would change" : "changed"}.`,
  };
}
