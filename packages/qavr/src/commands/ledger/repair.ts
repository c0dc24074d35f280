import { QavrError } from "@qavr/core";
import { repair } from "@qavr/core/maintenance";
import { EXIT } from "../../exit-codes.js";
import type { Ledger } from "../../open-ledger.js";
import { plural } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";
import { textOf } from "./verify.js";

export async function run(input: Input): Promise<Output> {
  const { engine } = await opened(input);
  const report = await repair(engine, { progress: input.progress("checking entries") });
  return {
    data: report,
    text: () => `States of ${plural(report.rebuilt.length, "namespace")} were built again.\n${textOf(report.after)}`,
    ...(report.after.ok ? {} : { exitCode: EXIT.problems }),
  };
}

/** Opens the ledger, after giving up the commits that its damaged or lost log held. */
async function opened({ open, note }: Input): Promise<Ledger> {
  try {
    return await open("write");
  } catch (error) {
    if (!QavrError.isInstance(error, "STORE_CORRUPT") || error.details.lost === undefined) throw error;
    note(error.message);
    const { repairLedger } = await import("@qavr/sqlite");
    const { entries, log } = await repairLedger(error.details.path as string);
    note(`${plural(entries, "entry is", "entries are")} kept.${log ? ` The damaged log is in ${log.keptAs}.` : ""}`);
    return open("write");
  }
}
