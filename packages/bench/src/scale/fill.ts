import { createEngine, type Store } from "@qavr/core";
import type { Client } from "pg";
import { NAME_ID } from "./disk.js";
import { SCHEMA } from "./plant.js";
import { createRuns, runOnce, steadyClock, TENANT, tenantName } from "./tenants.js";

/** Tenants that live through their history; all others are copies of them. */
const ORIGINALS = 8;
const SEED = 61;

/**
 * Gives the tenants `from` … `to − 1` a history. The first eight live through it, by the engine and the store. The others get copies of
 * those rows, with digests that fit their names. Each statement copies one row of a history for all tenants, in an order of its own, so
 * that a table's rows lie mixed as after months of traffic.
 */
export async function fillTenants(
  store: Store,
  client: Client,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await liveThrough(store, Math.max(0, Math.min(ORIGINALS, to) - from));
  await client.query(`
    set work_mem = '512MB';
    ${NAME_ID};
    -- PostgreSQL before 18 has no reverse() of bytes.
    create or replace function pg_temp.reversed(bytes bytea) returns bytea language sql immutable as
      $$ select string_agg(substr(bytes, place, 1), '' order by place desc) from generate_series(1, length(bytes)) as place $$;
    drop table if exists tenant, state_layer, entry_layer;
    create temp table tenant (place int, name text, id uuid, original uuid, first bytea, digest bytea)`);
  await client.query(
    `insert into tenant
     select place, name, pg_temp.name_id(name), pg_temp.name_id('tenant-' || lpad((place % ${ORIGINALS})::text, 6, '0')), first, first
     from generate_series($1::int, $2::int) as place, lateral (select 'tenant-' || lpad(place::text, 6, '0') as name) as named,
       lateral (select substr(sha256(convert_to('qavr' || name, 'UTF8')), 1, 16) as first) as chain`,
    [Math.max(from, ORIGINALS), to - 1],
  );
  const originals = "(select distinct original from tenant)";
  // A digest covers the digest before it and these fields: see `ledgerDigests` of @qavr/core.
  await client.query(`
    create temp table state_layer as
      select namespace, row_number() over (partition by namespace order by scope, id) as layer, scope, id, value
      from ${SCHEMA}.state where namespace in ${originals};
    create temp table entry_layer as
      select namespace, row_number() over (partition by namespace order by seq) as layer, seq, key, type, at, payload,
        pg_temp.reversed(float8send(seq)) || pg_temp.reversed(float8send(at)) || pg_temp.reversed(int4send(octet_length(key)))
          || pg_temp.reversed(int4send(octet_length(type))) || key || type || payload as covered
      from ${SCHEMA}.entry where namespace in ${originals};
    analyze tenant, state_layer, entry_layer`);
  const counts = await client.query(
    "select (select max(layer)::int from state_layer) as states, (select max(layer)::int from entry_layer) as entries",
  );
  const { states = 0, entries = 0 } = counts.rows[0] as { states?: number; entries?: number };
  for (let layer = 1; layer <= states; layer++) {
    await client.query(
      `insert into ${SCHEMA}.state (namespace, scope, id, value)
       select tenant.id, copied.scope, copied.id, copied.value
       from tenant join state_layer as copied on copied.namespace = tenant.original and copied.layer = $1
       order by hashint4extended(place, $1)`,
      [layer],
    );
  }
  for (let layer = 1; layer <= entries; layer++) {
    await client.query(
      `update tenant set digest = substr(sha256(digest || covered), 1, 16)
       from entry_layer as copied where copied.namespace = tenant.original and copied.layer = $1`,
      [layer],
    );
    await client.query(
      `insert into ${SCHEMA}.entry (namespace, seq, key, type, at, payload, digest)
       select tenant.id, seq, key, type, at, payload, tenant.digest
       from tenant join entry_layer as copied on copied.namespace = tenant.original and copied.layer = $1
       order by hashint4extended(place, $1)`,
      [layer],
    );
  }
  await client.query(`
    insert into ${SCHEMA}.namespace (id, name, head, revision, digest, base, base_digest, checkpoint_digest)
    select tenant.id, convert_to(tenant.name, 'UTF8'), head, revision, tenant.digest, 0, tenant.first, ''
    from tenant join ${SCHEMA}.namespace as original on original.id = tenant.original order by hashint4(place)`);
}

/** The originals' runs, tenant by tenant. */
async function liveThrough(store: Store, tenants: number): Promise<void> {
  const engine = createEngine({ store, clock: steadyClock(), readTimeout: 60_000 });
  const runs = createRuns(SEED);
  for (let place = 0; place < tenants; place++) {
    for (let run = 0; run < TENANT.history; run++) await runOnce(engine, tenantName(place), runs);
  }
}
