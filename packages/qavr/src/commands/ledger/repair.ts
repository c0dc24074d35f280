import { QavrError } from "@qavr/core";
import { repair } from "@qavr/core/maintenance";
import { EXIT } from "../../exit-codes.js";
import { type Ledger, openStore } from "../../open-ledger.js";
import { plural } from "../../terminal/text.js";
import { assertSameOptions } from "../../untold-options.js";
import type { Input, Output } from "../command.js";
import { textOf } from "./verify.js";

export async function run(input: Input): Promise<Output> {
  const { engine } = await opened(input);
  await assertSameOptions(engine);
  const report = await repair(engine, { progress: input.progress("checking entries") });
  return {
    data: report,
    text: () => `States of ${plural(report.rebuilt.length, "namespace")} were built again.\n${textOf(report.after)}`,
    ...(report.after.ok ? {} : { exitCode: EXIT.problems }),
  };
}

/** Opens the ledger, after giving up the commits that its damaged or lost log held, and after repairing a damaged head. */
async function opened({ open, note, options }: Input): Promise<Ledger> {
  try {
    return await open("write");
  } catch (error) {
    if (!QavrError.isInstance(error, "STORE_CORRUPT")) throw error;
    const { lost, last, path } = error.details;
    if (lost === undefined && last === undefined) throw error;
    note(error.message);
    if (lost === undefined) await mendHeads(options.store as string | undefined);
    else {
      const { repairLedger } = await import("@qavr/sqlite");
      const { entries, log } = await repairLedger(path as string);
      note(`${plural(entries, "entry is", "entries are")} kept.${log ? ` The damaged log is in ${log.keptAs}.` : ""}`);
    }
    return open("write");
  }
}

async function mendHeads(named: string | undefined): Promise<void> {
  const { store } = await openStore(named, "write");
  try {
    await store.repair?.();
  } finally {
    await store.close();
  }
}
