import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runDemo } from "../demo/run-demo.js";
import { openLedger } from "../open-ledger.js";
import { statusReport } from "../reports/status.js";
import type { Input, Output } from "./command.js";
import { statusText } from "./status.js";

export async function run({ options, progress }: Input): Promise<Output> {
  const { runs } = options as { readonly runs: number };
  const { sqliteStore } = await import("@qavr/sqlite");
  const path = join(await mkdtemp(join(tmpdir(), "qavr-demo-")), "ledger.db");
  const lastRun = await runDemo(sqliteStore(path), runs, Date.now(), progress("learning"));
  const ledger = await openLedger({ store: path });
  const report = await statusReport(ledger);
  await ledger.close();
  return {
    data: report,
    text: (style) =>
      [
        "A support desk with 24 notes: some help, some mislead, and no text says which. The desk and its outcomes are made up;",
        "the ranking, the learner and the ledger are real. One run in five is held out, in the order of similarity.",
        "",
        statusText(report, style),
        "",
        style.bold("Look at it:"),
        `  npx qavr dashboard --store ${path}`,
        `  npx qavr why ${lastRun} --store ${path}`,
      ].join("\n"),
  };
}
