import { createEngine, type Store } from "@qavr/core";
import type { Client } from "pg";
import { createRuns, runOnce, steadyClock, type TenantShape, tenantName } from "./tenants.js";

/** Tenants that live through their history; all others are copies of them, as they are. */
const ORIGINALS = 8;
const SEED = 61;

/**
 * Gives the tenants `from` … `to − 1` their past. The first eight live through it, by the engine and the store. The others get the same
 * rows under their own names, digests that fit these names, by one statement per row of a history: each statement goes through the
 * tenants in an order of its own, so that a table's rows lie mixed as if they had come over months.
 */
export async function fillTenants(
  store: Store,
  client: Client,
  schema: string,
  { from, to, shape }: { readonly from: number; readonly to: number; readonly shape: TenantShape },
  onProgress?: (share: number) => void,
): Promise<void> {
  await liveThrough(store, Math.max(0, Math.min(ORIGINALS, to) - from), shape);
  await client.query(`
    set work_mem = '512MB';
    create or replace function pg_temp.name_id(name text) returns uuid language sql immutable
      as $$ select encode(substr(sha256(convert_to(name, 'UTF8')), 1, 16), 'hex')::uuid $$;
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
  // What a digest covers beside the one before it, as `ledgerDigests` of @qavr/core says.
  await client.query(`
    create temp table state_layer as
      select namespace, row_number() over (partition by namespace order by scope, id) as layer, scope, id, value
      from ${schema}.state where namespace in ${originals};
    create temp table entry_layer as
      select namespace, row_number() over (partition by namespace order by seq) as layer, seq, key, type, at, payload,
        reverse(float8send(seq)) || reverse(float8send(at)) || reverse(int4send(octet_length(key)))
          || reverse(int4send(octet_length(type))) || key || type || payload as covered
      from ${schema}.entry where namespace in ${originals};
    analyze tenant, state_layer, entry_layer`);
  const counts = await client.query(
    "select (select max(layer)::int from state_layer) as states, (select max(layer)::int from entry_layer) as entries",
  );
  const { states = 0, entries = 0 } = counts.rows[0] as { states?: number; entries?: number };
  for (let layer = 1; layer <= states; layer++) {
    await client.query(
      `insert into ${schema}.state (namespace, scope, id, value)
       select tenant.id, copied.scope, copied.id, copied.value
       from tenant join state_layer as copied on copied.namespace = tenant.original and copied.layer = $1
       order by hashint4extended(place, $1)`,
      [layer],
    );
    onProgress?.(layer / (states + entries));
  }
  for (let layer = 1; layer <= entries; layer++) {
    await client.query(
      `update tenant set digest = substr(sha256(digest || covered), 1, 16)
       from entry_layer as copied where copied.namespace = tenant.original and copied.layer = $1`,
      [layer],
    );
    await client.query(
      `insert into ${schema}.entry (namespace, seq, key, type, at, payload, digest)
       select tenant.id, seq, key, type, at, payload, tenant.digest
       from tenant join entry_layer as copied on copied.namespace = tenant.original and copied.layer = $1
       order by hashint4extended(place, $1)`,
      [layer],
    );
    onProgress?.((states + layer) / (states + entries));
  }
  await client.query(`
    insert into ${schema}.namespace (id, name, head, revision, digest, base, base_digest, checkpoint_digest)
    select tenant.id, convert_to(tenant.name, 'UTF8'), head, revision, tenant.digest, 0, tenant.first, ''
    from tenant join ${schema}.namespace as original on original.id = tenant.original order by hashint4(place)`);
}

/** The originals' runs, tenant by tenant. */
async function liveThrough(store: Store, tenants: number, shape: TenantShape): Promise<void> {
  const engine = createEngine({ store, clock: steadyClock(), readDeadline: 60_000 });
  const runs = createRuns(shape, SEED);
  for (let place = 0; place < tenants; place++) {
    for (let run = 0; run < shape.history; run++) await runOnce(engine, tenantName(place), runs);
  }
}
