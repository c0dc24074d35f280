import { QavrError } from "@qavr/core";
import { isThenable } from "@qavr/core/adapter";

/** Refuses an async function where the answer is needed at once: a promise would be taken for a yes. @throws INVALID_ARGUMENT */
export function assertSynchronous(name: string, rule: unknown): void {
  if (typeof rule === "function" && rule.constructor.name === "AsyncFunction") throw promised(name);
}

/** What a function of the application answered. @throws INVALID_ARGUMENT for a promise */
export function answered<Answer>(name: string, answer: Answer): Answer {
  if (isThenable(answer)) throw promised(name);
  return answer;
}

function promised(name: string): QavrError {
  return new QavrError(
    "INVALID_ARGUMENT",
    `qavr.${name} must answer at once; it returns a promise. Look up before the run what it needs, and put it into the request context.`,
    { details: { option: name } },
  );
}
