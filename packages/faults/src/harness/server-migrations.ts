import { seededRandom } from "@qavr/bench";
import { startServer } from "@qavr/postgres-server";
import type { Client } from "pg";
import type { CheckResult, Harness } from "./check.js";
import { onServer } from "./database.js";
import { ENTRIES, type Left, migrationResults, openInProcess, PATIENCE, RACERS, WHOLE } from "./migrations.js";

const KILLS = { quick: 1, full: 60 } as const;
const RACES = { quick: 1, full: 10 } as const;

/** The first schema, as it was, in two partitions, with a ledger of one namespace. */
const FIRST_LEDGER = `
  drop schema if exists qavr cascade;
  create schema qavr;
  create table qavr.ledger (version integer not null);
  insert into qavr.ledger values (1);
  create table qavr.namespace (id uuid not null primary key, name bytea not null, head bigint not null, revision bigint not null)
    partition by hash (id);
  create table qavr.entry (namespace uuid not null, seq bigint not null, key bytea not null, type bytea not null,
    at double precision not null, payload bytea not null, primary key (namespace, seq), unique (namespace, key))
    partition by hash (namespace);
  create table qavr.state (namespace uuid not null, scope uuid not null, id bytea not null, value bytea not null,
    primary key (namespace, scope, id)) partition by hash (namespace);
  create index namespace_name on qavr.namespace (name);
  ${["namespace", "entry", "state"]
    .flatMap((table) =>
      [0, 1].map(
        (i) =>
          `create table qavr.${table}_${i} partition of qavr.${table} for values with (modulus 2, remainder ${i});`,
      ),
    )
    .join("\n")}
  insert into qavr.namespace
    select encode(substring(sha256('n') from 1 for 16), 'hex')::uuid, 'n', ${ENTRIES}, 1;
  insert into qavr.entry
    select id, seq, convert_to('k' || seq, 'UTF8'), 'tally', 1700000000000, convert_to(repeat('p', 600), 'UTF8')
    from qavr.namespace, generate_series(1, ${ENTRIES}) as seq;
`;

/** What a killed migration has left: the old schema, the new one, or something of both. */
async function schemaOf(client: Client): Promise<Left> {
  const { rows } = await client.query(`
    select version, (select count(*)::int from information_schema.columns
      where table_schema = 'qavr' and table_name in ('entry', 'namespace') and column_name = 'digest') as digests
    from qavr.ledger`);
  const [{ version, digests }] = rows;
  if (version === 1) return digests === 0 ? "old" : "half";
  return digests === 2 ? "new" : "half";
}

export const serverMigrations: Harness = {
  name: "database migrations",
  async run(size): Promise<readonly CheckResult[]> {
    const server = await startServer({ settings: { fsync: "off" } });
    const url = server.url();
    const prepare = (): Promise<unknown> => onServer(url, (client) => client.query(FIRST_LEDGER));
    try {
      await prepare();
      const started = performance.now();
      await openInProcess(url);
      const whole = performance.now() - started;
      const random = seededRandom(4);
      const seen = { old: 0, new: 0, half: 0 };
      for (let kill = 0; kill < KILLS[size]; kill++) {
        await prepare();
        await openInProcess(url, whole * (0.4 + 0.7 * random()));
        const left = await onServer(url, schemaOf);
        // Whatever was left, the next one finds the whole ledger.
        seen[(await openInProcess(url)).trim() === WHOLE ? left : "half"] += 1;
      }
      let [piecemeal, half] = [0, 0];
      for (; half === 0 && piecemeal < PATIENCE; piecemeal++) {
        await prepare();
        await openInProcess(url, whole * (0.4 + 0.5 * random()), "piecemeal");
        if ((await onServer(url, schemaOf)) === "half") half += 1;
      }
      let failed = 0;
      for (let race = 0; race < RACES[size]; race++) {
        await prepare();
        const answers = await Promise.all(Array.from({ length: RACERS }, () => openInProcess(url)));
        failed += answers.filter((answer) => answer.trim() !== WHOLE).length;
      }
      return migrationResults("PostgreSQL", { kills: KILLS[size], seen, races: RACES[size], failed, piecemeal, half });
    } finally {
      await server.stop();
    }
  },
};
