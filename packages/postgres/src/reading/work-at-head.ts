import { assertState, type HeadWork, type Revision } from "@qavr/core/store";
import type { Connection } from "../connection/connections.js";
import type { LedgerSql } from "../tables/ledger-sql.js";

interface AtHead extends Pick<HeadWork, "after" | "limit" | "work"> {
  readonly sql: LedgerSql;
  readonly namespace: string;
  /** Undefined for a namespace that does not exist. */
  readonly ends: { readonly head: number; readonly base: number } | undefined;
}

/** Runs work on one moment: the caller holds the head's lock, or reads a snapshot. */
export async function workAtHead(
  connection: Connection,
  { sql, namespace, ends, after, limit, work }: AtHead,
): Promise<{ readonly done: boolean; readonly revision?: Revision | undefined }> {
  const { head, base } = ends ?? { head: 0, base: 0 };
  if (head - Math.max(after, base) > limit) return { done: false };
  const entries = after < head ? await sql.entries(connection, namespace, after, limit) : [];
  const steps = work(entries, head);
  let step = steps.next();
  while (!step.done) step = steps.next((await sql.statesOf(connection, namespace, step.value)).values);
  for (const state of step.value?.states ?? []) assertState(state);
  return { done: true, revision: step.value };
}
