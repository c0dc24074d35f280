import type { Store } from "@qavr/core";
import {
  checkpointStates,
  DamageReport,
  type LedgerCheck,
  type LedgerDamage,
  NamespaceCheck,
  type ScanOptions,
} from "@qavr/core/store";
import type { Connection } from "../connection/connections.js";
import { toStoreError } from "../connection/postgres-errors.js";
import {
  type CheckpointSql,
  KEPT_TABLES,
  type KeptRows,
  type KeptTable,
  type NamedPage,
  type NamedRows,
} from "../tables/checkpoint-sql.js";
import { digests, nameId } from "../tables/digests.js";

/** Rows read at once. */
const PAGE = 1_000;

/** Access to a ledger for its check. */
export interface VerifyOptions {
  readonly sql: CheckpointSql;
  /** For messages. */
  readonly place: string;
  /** One page of the namespaces, in the order of their names. */
  namespaces(page: ScanOptions): Promise<NamedPage>;
  /** One page of the namespace ids of a table, in order. */
  kept(table: KeptTable, after: string | undefined, limit: number): Promise<readonly KeptRows[]>;
  /** Runs reads of one namespace, all on one moment. */
  snapshot<Result>(namespace: string, read: (connection: Connection) => Promise<Result>): Promise<Result>;
  /** As of a store's `verify`. */
  readonly progress: Parameters<Required<Store>["verify"]>[1];
}

/**
 * Reads a whole ledger, or one namespace of it, and checks everything against its digests, each namespace at one moment. States are not
 * checked; whether they follow from the entries needs a fold.
 *
 * @param only the namespace to check; undefined: all of them
 * @throws errors of the server, except damage
 */
export async function verifyLedger(options: VerifyOptions, only?: string): Promise<LedgerCheck> {
  const { sql, place, snapshot, progress } = options;
  const report = new DamageReport();
  const missing = new Set<string>();
  const named = only === undefined ? allNamespaces(options, missing) : [{ id: nameId(only), name: only }];
  for await (const { id, name } of named) {
    if (id !== nameId(name)) {
      report.add({ namespace: name, problem: "the name is not the one that its rows are kept under" });
      continue;
    }
    try {
      const before = report.entries;
      const checked = await snapshot(name, (connection) =>
        checkNamespace(connection, name, sql, (done, total) => progress?.(before + done, before + total)),
      );
      if (!checked) continue;
      report.addNamespace(checked.digest);
      report.entries += checked.entries;
      report.add(...checked.damage);
    } catch (cause) {
      const error = toStoreError(cause, place);
      if (error.code !== "STORE_CORRUPT" && error.code !== "STORE_FAILED") throw error;
      report.addError(error);
    }
  }
  for (const node of missing)
    report.add({ problem: `the namespaces on ${node} could not be read: it does not answer` });
  if (only === undefined && missing.size === 0) {
    for (const table of KEPT_TABLES) {
      for await (const { id, isListed } of allKept(options, table)) {
        if (!isListed)
          report.add({ problem: `rows of ${table} are kept under ${id}, which no namespace is listed for` });
      }
    }
  }
  return report.result(digests, only);
}

/** @param missing collects the nodes that do not answer */
async function* allNamespaces({ namespaces }: VerifyOptions, missing: Set<string>): AsyncIterable<NamedRows> {
  const listed = async (after: string | undefined, limit: number): Promise<readonly NamedRows[]> => {
    const page = await namespaces(after === undefined ? { limit } : { after, limit });
    for (const node of page.missing) missing.add(node);
    return page.rows;
  };
  yield* allPages(listed, ({ name }) => name);
}

async function* allKept({ kept }: VerifyOptions, table: KeptTable): AsyncIterable<KeptRows> {
  yield* allPages(
    (after, limit) => kept(table, after, limit),
    ({ id }) => id,
  );
}

async function* allPages<Item>(
  pageAfter: (after: string | undefined, limit: number) => Promise<readonly Item[]>,
  placeOf: (item: Item) => string,
): AsyncIterable<Item> {
  let page: readonly Item[];
  let after: string | undefined;
  do {
    page = await pageAfter(after, PAGE);
    yield* page;
    const last = page.at(-1);
    after = last && placeOf(last);
  } while (page.length === PAGE);
}

/** The result for one namespace. */
interface CheckedNamespace {
  readonly digest: Uint8Array;
  readonly entries: number;
  readonly damage: readonly LedgerDamage[];
}

/** Undefined for a namespace that does not exist, or was erased since it was listed. */
async function checkNamespace(
  connection: Connection,
  namespace: string,
  sql: CheckpointSql,
  progress: (done: number, total: number) => void,
): Promise<CheckedNamespace | undefined> {
  const ends = await sql.ends(connection, namespace);
  if (!ends) return undefined;
  const check = new NamespaceCheck(ends, digests);
  for (let last = 0, isOver = false; !isOver; ) {
    const page = await sql.entries(connection, namespace, last, PAGE);
    for (const row of page) {
      // The row of a compacted entry has the digest of its payload in the place of the payload.
      if (row.seq > ends.base) check.entry(row);
      else check.key({ ...row, payloadDigest: row.payload });
    }
    progress(check.entries, ends.head - ends.base);
    isOver = page.length < PAGE;
    last = page.at(-1)?.seq ?? last;
  }
  const states = checkpointStates(await sql.states(connection, namespace), ends, digests);
  const damage = [...check.chain(), ...check.checkpoint(states)];
  return { digest: ends.digest, entries: check.entries, damage };
}
