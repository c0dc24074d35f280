import type { MastraDBMessage } from "@mastra/core/memory";

/** Mastra's note of a completion check, in the metadata of a message. */
interface Checked {
  /** Result of `isTaskComplete`; without `passed`, the message of `onIterationComplete`. */
  readonly completionResult?: { readonly passed?: boolean };
  /** Result of the judge of an agent's goal. */
  readonly signal?: {
    readonly metadata?: {
      readonly goalEvaluation?: {
        readonly passed?: boolean;
        /** True when the judge could not decide. */
        readonly judgeFailed?: boolean;
        /** True when the agent waits for the user, which is no failure. */
        readonly waitingForUser?: boolean;
      };
    };
  };
}

/**
 * True for a run that ended while the application's own completion check still failed, because no attempt was left. Mastra gives the
 * reason `stop`, and the stream has no part for it. But a failed check leaves a note in the messages, and a run that continued after it
 * has an answer behind the note.
 *
 * @param messages All messages of the run, the last one last
 */
export function isIncomplete(messages: readonly MastraDBMessage[]): boolean {
  const { completionResult, signal } =
    messages.map(checkedIn).findLast(({ completionResult: result }) => !result || result.passed !== undefined) ?? {};
  if (completionResult) return completionResult.passed === false;
  const { passed, judgeFailed, waitingForUser } = signal?.metadata?.goalEvaluation ?? {};
  return passed === false && !judgeFailed && !waitingForUser;
}

function checkedIn({ content }: MastraDBMessage): Checked {
  return content?.metadata ?? {};
}
