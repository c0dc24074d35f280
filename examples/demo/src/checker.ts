import type { Dataset } from "@qavr/lab";
import { oneLine, readAnswer } from "./prompt.js";

/** A finished run, as far as the checker looks at it. */
export interface CheckedRun {
  /** The question. */
  readonly input: unknown;
  /** The chain's answer; undefined when it threw. */
  readonly output: unknown;
}

/**
 * The verifier of the demo: it knows the label that people gave each question, sees the answer and says right or wrong. It never
 * sees which lessons were shown.
 *
 * @returns undefined for a question without a label: nobody knows.
 */
export function labelChecker(dataset: Dataset): (run: CheckedRun) => boolean | undefined {
  const labels = new Map(
    dataset.texts.map(({ text, needs: [need = -1] }) => [oneLine(text), dataset.needs[need]?.name]),
  );
  return ({ input, output }) => {
    const label = labels.get(oneLine(String(input)));
    if (label === undefined) return undefined;
    return typeof output === "string" && readAnswer(output) === label;
  };
}
