import type { Engine } from "@qavr/core";
import { type Progress, type VerifyReport, verify } from "@qavr/core/maintenance";
import { CommandError } from "./exit-codes.js";

/** Learners whose ids tell every option on which their states depend. Of others the defaults are a guess. */
const TOLD = new Set("oar grouped by-use cav similarity success-rate reinforcement time-weighted".split(" "));

type Options = Readonly<{ namespace?: string; progress?: Progress }>;

/** Verifies a ledger. States that differ perhaps only because the application gives its learner options are not checked. */
export async function verifyHere(engine: Engine, options: Options): Promise<VerifyReport> {
  const report = await verify(engine, options);
  if (isTold(engine)) return report;
  const guessed = report.differing.map(({ namespace }) => ({ namespace, reason: "LEARNER_MISMATCH" }));
  return { ...report, differing: [], unchecked: [...report.unchecked, ...guessed] };
}

/**
 * Call it before states are built: with other options than the application's they would become others.
 *
 * @throws CommandError CONFLICT for states that do not follow from the ledger by a learner whose options are not known
 */
export async function assertSameOptions(engine: Engine, options: Options = {}): Promise<void> {
  const [differing] = isTold(engine) ? [] : (await verify(engine, options)).differing;
  if (!differing) return;
  throw new CommandError(
    "CONFLICT",
    `The states of namespace ${differing.namespace} do not follow from its ledger by ${engine.learner.id} with default options. Only the application knows its own options: call the function of @qavr/core/maintenance there.`,
  );
}

function isTold({ learner }: Engine): boolean {
  return TOLD.has(learner.id.split("@")[0] as string);
}
