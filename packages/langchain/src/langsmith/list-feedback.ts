import { createdAt, type FeedbackClient, type FeedbackSourceType, type LangSmithFeedback, saidAt } from "./feedback.js";

/** Feedback to look at before a falling list is believed to go on falling. One page of LangSmith's client. */
const ORDER_EVIDENCE = 100;

/**
 * The feedback that was created or edited at `since` or later, oldest word first, each id once in its last form.
 *
 * LangSmith lists by page and promises no order. While the list falls in time, which it mostly does, it is left at the first
 * one that is older than `since`; any other list is read to its end.
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
    // A date that nobody can read is no reason to lose what it dates.
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
