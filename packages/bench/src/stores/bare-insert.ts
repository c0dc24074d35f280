import type { DatabaseSync } from "node:sqlite";
import { seededRandom } from "@qavr/lab";
import type { Client } from "pg";
import { noise, OUTCOME_BYTES } from "./outcome-workload.js";

/** Rows of as many bytes as an outcome writes, without any question asked before: the least a database can do to keep them. */
export type BareInsert = (batch: number) => unknown;

const SEED = 31;

/** One durable statement per call, on this connection. */
export async function barePostgresInsert(client: Client, table: string): Promise<BareInsert> {
  const bytes = noise(seededRandom(SEED));
  await client.query(`create table ${table} (id bigserial primary key, value bytea not null)`);
  await client.query(`alter table ${table} alter column value set storage external`);
  return (batch) => {
    const values = Array.from({ length: batch }, () => Buffer.from(bytes(OUTCOME_BYTES)));
    const text = `insert into ${table} (value) select * from unnest($1::bytea[])`;
    return client.query({ name: table, text, values: [values] });
  };
}

/** One durable transaction per call, in this file. */
export function bareSqliteInsert(db: DatabaseSync): BareInsert {
  const bytes = noise(seededRandom(SEED));
  db.exec("pragma journal_mode = wal; pragma synchronous = full");
  db.exec("create table bare (id integer primary key, value blob not null)");
  const insert = db.prepare("insert into bare (value) values (?)");
  return (batch) => {
    db.exec("begin immediate");
    for (let row = 0; row < batch; row++) insert.run(bytes(OUTCOME_BYTES));
    db.exec("commit");
  };
}
