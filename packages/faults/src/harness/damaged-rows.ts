import { QavrError } from "@qavr/core";
import { type Random, seededRandom } from "@qavr/lab";
import { postgresStore } from "@qavr/postgres";
import { startServer } from "@qavr/postgres-server";
import { type Client, Pool } from "pg";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { onServer } from "./database.js";
import { learnLedger, verified } from "./learned-ledger.js";

const FLIPS = { quick: 15, full: 1_000 } as const;
const TABLES = ["namespace", "entry", "checkpoint_state", "state"] as const;
/** Numbers in the tables are counts, places and times: bits above these are no more likely to flip, and never stood for anything. */
const NUMBER_BITS = 40;

type Value = string | number;

/** One column of one row. */
interface Cell {
  readonly table: string;
  readonly row: Readonly<Record<string, Value>>;
  readonly column: string;
}

interface FlipTally {
  found: number;
  /** All that can be read is as it was. */
  harmless: number;
  missed: number;
  /** Of those found, how many PostgreSQL's own check of indexes finds. */
  foundByServer: number;
  /** Columns whose flips were missed. */
  readonly missedColumns: Set<string>;
}

/** Flips one bit of a bytea, a uuid or a number, as JSON writes them. */
function flipped(value: Value, random: Random): Value {
  if (typeof value === "number") return Number(BigInt(value) ^ (1n << BigInt(Math.floor(random() * NUMBER_BITS))));
  const prefix = value.startsWith("\\x") ? "\\x" : "";
  const digits = [...value.slice(prefix.length)];
  const places = digits.flatMap((digit, place) => (digit === "-" ? [] : [place]));
  const place = places[Math.floor(random() * places.length)] as number;
  const bit = 1 << Math.floor(random() * 4);
  digits[place] = (Number.parseInt(digits[place] as string, 16) ^ bit).toString(16);
  return prefix + digits.join("");
}

/** Every cell of the ledger that has a bit to flip. */
async function cellsOf(client: Client): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  for (const table of TABLES) {
    const { rows } = await client.query(`select to_jsonb(t) as row from qavr.${table} as t order by t`);
    for (const { row } of rows) {
      for (const column of Object.keys(row)) if (row[column] !== "\\x") cells.push({ table, row, column });
    }
  }
  return cells;
}

/** Puts one row in the place of another. False when the server refuses it. */
async function replace(client: Client, table: string, before: Cell["row"], after: Cell["row"]): Promise<boolean> {
  await client.query("begin");
  try {
    await client.query(`delete from qavr.${table} as t where to_jsonb(t) = $1`, [before]);
    await client.query(`insert into qavr.${table} select (jsonb_populate_record(null::qavr.${table}, $1)).*`, [after]);
    await client.query("commit");
    return true;
  } catch {
    await client.query("rollback");
    return false;
  }
}

async function serverFinds(client: Client): Promise<boolean> {
  const check = `select bt_index_check(pg_class.oid, true) from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'qavr' and relkind = 'i'`;
  return client.query(check).then(
    () => false,
    () => true,
  );
}

async function flipRows(url: string, pool: Pool, flips: number): Promise<FlipTally> {
  const tally: FlipTally = { found: 0, harmless: 0, missed: 0, foundByServer: 0, missedColumns: new Set() };
  const random = seededRandom(6);
  const look = (): ReturnType<typeof verified> => verified(postgresStore({ pool }));
  await learnLedger(postgresStore({ pool, partitions: 2 }));
  const { said } = await look();
  await onServer(url, async (client) => {
    await client.query("create extension if not exists amcheck");
    const cells = await cellsOf(client);
    for (let flip = 0; flip < flips; ) {
      const { table, row, column } = cells[Math.floor(random() * cells.length)] as Cell;
      const damaged = { ...row, [column]: flipped(row[column] as Value, random) };
      // A key that is there already cannot come about in a table.
      if (!(await replace(client, table, row, damaged))) continue;
      flip += 1;
      const after = await look().catch((error: unknown) => {
        if (!QavrError.isInstance(error)) throw error;
      });
      if (!after?.ok) {
        tally.found += 1;
        if (await serverFinds(client)) tally.foundByServer += 1;
      } else if (after.said === said) tally.harmless += 1;
      else {
        tally.missed += 1;
        tally.missedColumns.add(`${table}.${column}`);
      }
      if (!(await replace(client, table, damaged, row))) throw new Error(`A row of ${table} could not be put back.`);
    }
  });
  return tally;
}

export const damagedRows: Harness = {
  name: "damaged rows",
  async run(size): Promise<readonly CheckResult[]> {
    await using server = await startServer({ settings: { fsync: "off" } });
    const pool = new Pool({ connectionString: server.url(), max: 2 });
    pool.on("error", () => {});
    try {
      const tally = await flipRows(server.url(), pool, FLIPS[size]);
      const { found, harmless, missed, foundByServer, missedColumns } = tally;
      return [
        {
          promise: "R13",
          what: "one flipped bit in any column of any row, then verify (PostgreSQL)",
          tried: `${FLIPS[size]} flips, ${harmless} without effect`,
          seen: `${found} of ${found + missed} found${missed > 0 ? `, missed in ${[...missedColumns].join(", ")}` : ""}`,
          held: found / (found + missed) >= 0.99,
        },
        mutantResult({
          what: "PostgreSQL's own check (amcheck) instead of verify",
          tried: `${found + missed} flips with an effect`,
          seen: `${foundByServer} found`,
          held: foundByServer < 0.99 * (found + missed),
        }),
      ];
    } finally {
      await pool.end();
    }
  },
};
