import { EXIT } from "../exit-codes.js";
import type { LedgerOptions } from "../open-ledger.js";
import { type DoctorReport, doctorReport } from "../reports/doctor.js";
import { LEAST_RUNS } from "../reports/learning-state.js";
import type { Style } from "../terminal/terminal.js";
import { plural, shown } from "../terminal/text.js";
import type { Input, Output } from "./command.js";

/** For a ledger that an application opened and that stayed empty. */
const UNRECORDED =
  "If your application ran, let it retrieve through the memory, and await memory.flush() before process.exit().";

export async function run({ options, progress }: Input): Promise<Output> {
  const report = await doctorReport(options as LedgerOptions, options.fix === true, Date.now(), progress("repairing"));
  return {
    data: report,
    text: (style) => textOf(report, style),
    ...(report.findings.length > 0 ? { exitCode: report.store === undefined ? EXIT.unavailable : EXIT.problems } : {}),
  };
}

function textOf({ findings, fixed, runs, entries, verified, namespace }: DoctorReport, style: Style): string {
  const where = namespace === undefined ? "" : ` in namespace ${shown(namespace)}`;
  const whole = verified ? " The ledger is whole." : "";
  const fewRuns =
    runs === 0
      ? `No run is recorded${where}. ${UNRECORDED}`
      : runs < LEAST_RUNS
        ? `${plural(runs, "run")} so far${where}: most checks need ${LEAST_RUNS}.`
        : `Of ${plural(runs, "run")}${where} the ledger keeps ${plural(entries, "entry", "entries")}: most checks need ${LEAST_RUNS} runs.`;
  const nothingFound =
    Math.min(runs, entries) < LEAST_RUNS
      ? `${fewRuns}${whole}`
      : style.good(`Nothing found in ${plural(entries, "entry", "entries")}${where}.`);
  return [
    ...fixed.map((id) => style.good(`repaired ${id}`)),
    ...findings.flatMap(({ id, finding, fix }) => [
      `${style.bad(id)}  ${shown(finding, 1_000)}`,
      `  fix: ${shown(fix, 1_000)}`,
    ]),
    findings.length === 0 ? nothingFound : `${plural(findings.length, "finding")}${where}.`,
    ...(verified || entries === 0
      ? []
      : [style.dim("The ledger is long: npx qavr ledger verify compares all of it with its digests.")]),
  ].join("\n");
}
