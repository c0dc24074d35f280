import {
  ChainCheck,
  type ChainedEntry,
  DamageReport,
  type LedgerCheck,
  type LedgerDamage,
  sameBytes,
} from "@qavr/core";
import type { Connection } from "../connection/connections.js";
import { toStoreError } from "../connection/postgres-errors.js";
import {
  type CheckpointSql,
  KEPT_TABLES,
  type KeptRows,
  type KeptTable,
  type NamedRows,
} from "../tables/checkpoint-sql.js";
import { digests } from "../tables/digests.js";
import { nameId } from "../tables/name-id.js";
import { checkpointFits } from "./checkpoint.js";

/** Rows that are read at once. */
const PAGE = 1_000;

/** What checking needs of a store. */
export interface VerifyOptions {
  readonly sql: CheckpointSql;
  /** For messages. */
  readonly place: string;
  /** One page of the namespaces, in the order of their names. */
  namespaces(after: string | undefined, limit: number): Promise<readonly NamedRows[]>;
  /** One page of what a table keeps rows under, in order. */
  kept(table: KeptTable, after: string | undefined, limit: number): Promise<readonly KeptRows[]>;
  /** Runs reads of one namespace, all on one moment. */
  snapshot<Result>(namespace: string, read: (connection: Connection) => Promise<Result>): Promise<Result>;
}

/**
 * Reads a whole ledger, or one namespace of it, and holds everything against its digests: each namespace as it is at one moment. Of
 * the states it checks nothing: whether they follow from the entries only a fold can tell.
 *
 * @param only the namespace to look at; undefined: all of them
 * @throws what the server reports, unless that is damage
 */
export async function verifyLedger(options: VerifyOptions, only?: string): Promise<LedgerCheck> {
  const { sql, place, snapshot } = options;
  const report = new DamageReport();
  const named = only === undefined ? allNamespaces(options) : [{ id: nameId(only), name: only }];
  for await (const { id, name } of named) {
    if (id !== nameId(name)) {
      report.add({ namespace: name, problem: "the name is not the one that its rows are kept under" });
      continue;
    }
    try {
      const checked = await snapshot(name, (connection) => checkNamespace(connection, name, sql));
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
  if (only === undefined) {
    for (const table of KEPT_TABLES) {
      for await (const { id, isListed } of allKept(options, table)) {
        if (!isListed)
          report.add({ problem: `rows of ${table} are kept under ${id}, which no namespace is listed for` });
      }
    }
  }
  return report.result(digests, only);
}

async function* allNamespaces({ namespaces }: VerifyOptions): AsyncIterable<NamedRows> {
  yield* allPages(namespaces, ({ name }) => name);
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

/** What one namespace came to. */
interface CheckedNamespace {
  readonly digest: Uint8Array;
  readonly entries: number;
  readonly damage: readonly LedgerDamage[];
}

/** Undefined for one that is not there, or was erased since it was listed. */
async function checkNamespace(
  connection: Connection,
  namespace: string,
  sql: CheckpointSql,
): Promise<CheckedNamespace | undefined> {
  const ends = await sql.ends(connection, namespace);
  if (!ends) return undefined;
  const chain = new ChainCheck(ends, digests);
  let keys = 0;
  let damagedKey: number | undefined;
  for (let last = 0, isOver = false; !isOver; ) {
    const page = await sql.entries(connection, namespace, last, PAGE);
    for (const row of page) {
      if (row.seq > ends.base) chain.next(row);
      else {
        keys += 1;
        if (!isIntactKey(ends.namespace, row)) damagedKey ??= row.seq;
      }
    }
    isOver = page.length < PAGE;
    last = page.at(-1)?.seq ?? last;
  }
  const damage: LedgerDamage[] = [];
  const broken = chain.end();
  if (broken) damage.push(broken);
  if (!(await checkpointFits(connection, ends, sql))) {
    damage.push({ namespace, seq: ends.base, problem: "the states of the checkpoint do not fit their digest" });
  }
  if (damagedKey !== undefined) {
    damage.push({ namespace, seq: damagedKey, problem: "the key of a compacted entry is damaged" });
  } else if (keys !== ends.base) {
    damage.push({ namespace, problem: `${ends.base - keys} keys of compacted entries are missing` });
  }
  return { digest: ends.digest, entries: chain.entries, damage };
}

function isIntactKey(namespace: string, { seq, key, payload, digest }: ChainedEntry): boolean {
  return sameBytes(digests.dropped(namespace, { seq, key, payloadDigest: payload }), digest);
}
