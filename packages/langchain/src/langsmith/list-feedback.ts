import { createdAt, type FeedbackClient, type FeedbackSourceType, type LangSmithFeedback, saidAt } from "./feedback.js";

/** Feedback to read before a falling list is taken to fall to its end. One page of LangSmith's client. */
const ORDER_EVIDENCE = 100;

/**
 * The feedback that was created or edited at `since` or later, oldest first, each id once in its last form.
 *
 * LangSmith lists by page and promises no order. A list that falls in time, the usual case, is read up to the first feedback before
 * `since`; any other list is read to its end.
 *
 * @param since Unix ms, −Infinity for all.
 */
export async function listFeedback(
  client: FeedbackClient,
  filter: { readonly keys: readonly string[] | undefined; readonly sources: readonly FeedbackSourceType[] | undefined },
  since: number,
): Promise<LangSmithFeedback[]> {
  const found = new Map<string, LangSmithFeedback>();
  let seen = 0;
  let falling = true;
  let last = Number.POSITIVE_INFINITY;
  const pages = client.listFeedback({
    ...(filter.keys ? { feedbackKeys: [...filter.keys] } : {}),
    ...(filter.sources ? { feedbackSourceTypes: [...filter.sources] } : {}),
  });
  for await (const feedback of pages) {
    const created = createdAt(feedback);
    seen += 1;
    falling &&= created <= last;
    last = created;
    // Feedback with an unreadable date is kept.
    const isNew = !(saidAt(feedback) < since);
    const known = found.get(feedback.id);
    // Pages overlap when feedback comes in while they are read.
    if (isNew && !(known && saidAt(known) > saidAt(feedback))) found.set(feedback.id, feedback);
    if (falling && seen >= ORDER_EVIDENCE && created < since) break;
  }
  return [...found.values()].sort((a, b) => orderOf(a) - orderOf(b));
}

function orderOf(feedback: LangSmithFeedback): number {
  const said = saidAt(feedback);
  return Number.isNaN(said) ? Number.NEGATIVE_INFINITY : said;
}
