import type { Internals } from "../internals.js";

/** Sources that are told apart; a client may make up kinds of feedback. */
const MAX_SOURCES = 100;

/** Says once per source why what it says teaches nothing. Without a logger the first one is a process warning. */
export function scoreIgnored({ ignoredSources, log }: Internals, source: string, why: string): void {
  if (ignoredSources.has(source) || ignoredSources.size >= MAX_SOURCES) return;
  ignoredSources.add(source);
  log("warn", "SCORE_IGNORED", why);
}
