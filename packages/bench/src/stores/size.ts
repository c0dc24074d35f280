import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Client } from "pg";
import type { OpenProbe, ProbedStore } from "./open-probe.js";

/** Size of a namespace with many memories. */
export interface StoreSize {
  readonly store: ProbedStore["kind"];
  readonly memories: number;
  /** Time that writing them took, s. */
  readonly filled: number;
  /** Bytes on the disk, indexes included. */
  readonly disk: number;
  readonly opened: OpenProbe;
}

/** Opens a store in a process of its own, as an application does that starts. */
export async function probeOpening(probed: ProbedStore): Promise<OpenProbe> {
  const script = fileURLToPath(new URL("open-probe.mjs", import.meta.url));
  const args = ["--expose-gc", script, JSON.stringify(probed)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as OpenProbe;
}

/** Bytes of a ledger's file and its log. */
export async function sqliteBytes(path: string): Promise<number> {
  const sizes = [path, `${path}-wal`].map(async (file) => (await stat(file).catch(() => undefined))?.size ?? 0);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Bytes of all tables of a schema, with their indexes. */
export async function postgresBytes(client: Client, schema: string): Promise<number> {
  const { rows } = await client.query(
    `select coalesce(sum(pg_total_relation_size(oid)), 0)::float8 as bytes from pg_class
     where relnamespace = $1::regnamespace and relkind = 'r'`,
    [schema],
  );
  return rows[0].bytes;
}
