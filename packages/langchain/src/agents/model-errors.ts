/**
 * Prepares an error of the model so that LangChain does not wrap it in a `MiddlewareError`, by which neither a retry nor the agent's caller
 * could recognise it (langchainjs #11324). LangChain wraps all errors but LangGraph's control flow. So the error bears the mark of
 * control flow until LangChain has looked at it: for two microtasks.
 */
function passedOn(error: unknown): unknown {
  const marked = error as { is_bubble_up?: boolean };
  if (error instanceof Error && Object.isExtensible(error) && marked.is_bubble_up === undefined) {
    marked.is_bubble_up = true;
    queueMicrotask(() => queueMicrotask(() => delete marked.is_bubble_up));
  }
  return error;
}

/** The model's answer to a call. To be returned as it is: a further `await` would keep the error from LangChain for too long. */
export async function answerOf<Answer>(call: () => Answer | PromiseLike<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    throw passedOn(error);
  }
}
