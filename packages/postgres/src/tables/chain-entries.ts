import { bytesToName, type EntryColumns } from "@qavr/core";
import { type Connection, statement } from "../connection/connections.js";
import { digests } from "./digests.js";
import { nameScope } from "./namespace-transaction.js";

/** Rows that are read, and written, at once. */
const PAGE = 1_000;

/**
 * Gives the entries of a ledger that has none their digests. For whoever migrates it, inside that transaction.
 *
 * @param schema quoted
 * @param rowLevelSecurity each namespace must be named before its rows show
 */
export async function chainEntries(connection: Connection, schema: string, rowLevelSecurity: boolean): Promise<void> {
  const sql = {
    namespaces: statement(
      `select id::text as id, name from ${schema}.namespace where name > $1 order by name limit ${PAGE}`,
    ),
    entries: statement(`
      select seq, key, type, at, payload from ${schema}.entry where namespace = $1 and seq > $2 order by seq limit ${PAGE}`),
    setEntries: statement(`
      update ${schema}.entry set digest = chained.digest from unnest($2::bigint[], $3::bytea[]) as chained (seq, digest)
      where entry.namespace = $1 and entry.seq = chained.seq`),
    setNamespace: statement(`update ${schema}.namespace set digest = $2, base_digest = $3 where id = $1`),
  };
  const scope = async (id: string): Promise<void> => {
    if (rowLevelSecurity) await connection.script(nameScope(id));
  };

  const chain = async (id: string, first: Uint8Array): Promise<void> => {
    let digest = first;
    for (let last = 0, isOver = false; !isOver; ) {
      const rows: readonly unknown[] = await connection.rows(sql.entries, [id, last]);
      const chained = (rows as readonly EntryColumns[]).map((entry) => {
        digest = digests.entry(digest, entry);
        last = entry.seq;
        return { seq: entry.seq, digest: Buffer.from(digest) };
      });
      await connection.rows(sql.setEntries, [id, chained.map(({ seq }) => seq), chained.map((entry) => entry.digest)]);
      isOver = rows.length < PAGE;
    }
    await connection.rows(sql.setNamespace, [id, Buffer.from(digest), Buffer.from(first)]);
  };

  for (let after: Uint8Array = new Uint8Array(), isOver = false; !isOver; ) {
    await scope("*");
    const rows = await connection.rows(sql.namespaces, [Buffer.from(after)]);
    for (const { id, name } of rows) {
      await scope(id as string);
      await chain(id as string, digests.first(bytesToName(name as Uint8Array)));
      after = name as Uint8Array;
    }
    isOver = rows.length < PAGE;
  }
}
