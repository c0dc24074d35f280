import type { MastraDBMessage } from "@mastra/core/memory";

/** What Mastra notes on the word of a check, in the metadata of its message. */
interface Checked {
  /** Of `isTaskComplete`; without a word on whether it passed, of what `onIterationComplete` has said. */
  readonly completionResult?: { readonly passed?: boolean };
  /** Of the judge of an agent's goal. */
  readonly signal?: {
    readonly metadata?: {
      readonly goalEvaluation?: {
        readonly passed?: boolean;
        /** The judge could not tell. */
        readonly judgeFailed?: boolean;
        /** It is the user's turn: nothing has gone wrong. */
        readonly waitingForUser?: boolean;
      };
    };
  };
}

/**
 * Whether a run ended although the application's own check of it had said that it was not done: it had no attempt left. For Mastra
 * that is a `stop` like any other, and no part of the stream tells a processor. But a check that does not pass leaves its word in the
 * messages, and where the run went on from there an answer follows.
 *
 * @param messages All messages of the run, the last one last
 */
export function isIncomplete(messages: readonly MastraDBMessage[]): boolean {
  const { completionResult, signal } =
    messages.map(checkedIn).findLast(({ completionResult: said }) => !said || said.passed !== undefined) ?? {};
  if (completionResult) return completionResult.passed === false;
  const { passed, judgeFailed, waitingForUser } = signal?.metadata?.goalEvaluation ?? {};
  return passed === false && !judgeFailed && !waitingForUser;
}

function checkedIn({ content }: MastraDBMessage): Checked {
  return content?.metadata ?? {};
}
