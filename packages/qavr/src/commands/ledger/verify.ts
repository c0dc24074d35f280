import type { VerifyReport } from "@qavr/core/maintenance";
import { EXIT } from "../../exit-codes.js";
import { plural, shown } from "../../terminal/text.js";
import { verifyHere } from "../../untold-options.js";
import type { Input, Output } from "../command.js";

export async function run({ open, progress }: Input): Promise<Output> {
  const { engine } = await open();
  const report = await verifyHere(engine, { progress: progress("checking entries") });
  return { data: report, text: () => textOf(report), ...(report.ok ? {} : { exitCode: EXIT.problems }) };
}

export function textOf({
  ok,
  namespaces,
  entries,
  damaged,
  damage,
  differing,
  unchecked,
  digest,
}: VerifyReport): string {
  const found =
    damaged + differing.length > 0 ? "The ledger is not whole" : "Not all of the ledger can be checked here";
  const whole = ok ? "The ledger is whole" : found;
  return [
    `${whole}: ${plural(entries, "entry", "entries")} of ${plural(namespaces, "namespace")} read, ${plural(damaged, "damaged part")}.`,
    ...damage.map(
      ({ namespace, seq, problem }) => `damage   ${shown(namespace ?? "?")} ${seq ?? ""}: ${shown(problem, 200)}`,
    ),
    ...differing.map(
      ({ namespace, states }) =>
        `differs  ${shown(namespace)}: ${plural(states.length, "state")} not as the ledger says`,
    ),
    ...unchecked.map(({ namespace, reason }) => `unknown  ${shown(namespace)}: ${reason}`),
    ...(digest === undefined ? [] : [`digest   ${digest}`]),
    ...(differing.length > 0 ? ["npx qavr ledger repair builds the states again from the ledger."] : []),
  ].join("\n");
}
