import type { Internals } from "../internals.js";
import { findRun } from "./find-run.js";

/** A handle in a prompt. */
const HANDLE = /\[m(\d{1,6})\]/g;

/**
 * In a chat, what a recall tool answered in earlier turns is still in the conversation. Lets the run's own memories take the
 * handles after those, so that a report which names one of them cannot be taken for a memory of this run. Without messages, or
 * when the run has shown something already, everything stays as it is.
 *
 * @param messages The conversation so far; tool messages are read.
 */
export function continueHandles(internals: Internals, callbacks: unknown, messages: unknown): void {
  if (!Array.isArray(messages)) return;
  const root = findRun(internals.runs, callbacks).run?.root;
  if (!root || root.episodes.length > 0) return;
  for (const { type, text } of messages as readonly { readonly type?: unknown; readonly text?: unknown }[]) {
    if (type !== "tool" || typeof text !== "string") continue;
    for (const [, number] of text.matchAll(HANDLE)) root.lastHandle = Math.max(root.lastHandle, Number(number));
  }
}
