import { onItsOwn } from "../connection/transaction.js";

/** An identifier for SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text for SQL. `standard_conforming_strings` may be off, so backslashes count. */
export function quotedText(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return text.includes("\\") ? `E'${doubled.replaceAll("\\", "\\\\")}'` : `'${doubled}'`;
}

/**
 * A look-up per row of `wanted`; `offset 0` keeps the planner from rewriting it. The planner assumes namespaces of average size: if most
 * are small, it would read all rows of a large one with each commit.
 */
export function oneByOne(lookup: string, name: string): string {
  return `cross join lateral (${lookup} offset 0) as ${name}`;
}

/**
 * One statement, one round trip, one moment: updating the row of the namespace locks it, and other writers see it changed.
 */
export function writeIfAt(schema: string, removing: boolean, lockTimeout: number): string {
  const removal = `,
    removed as (
      delete from ${schema}.state using unnest($16::uuid[], $17::bytea[]) as gone (scope, id)
      where state.namespace = $1 and state.scope = gone.scope and state.id = gone.id and exists (select 1 from moved))`;
  return `
    with moved as (
      update ${schema}.namespace set head = $4, revision = $5, digest = $6
      where id = $1 and revision = $2 and digest = $3 and ${onItsOwn(lockTimeout)}
        and not exists (select 1 from unnest($8::bytea[]) as wanted (key)
          ${oneByOne(`select 1 from ${schema}.entry where namespace = $1 and key = wanted.key`, "taken")})
      returning id),
    appended as (
      insert into ${schema}.entry (namespace, seq, key, type, at, payload, digest)
      select $1, added.* from unnest(
        $7::bigint[], $8::bytea[], $9::bytea[], $10::double precision[], $11::bytea[], $12::bytea[]) as added
      where exists (select 1 from moved)),
    written as (
      insert into ${schema}.state (namespace, scope, id, value)
      select $1, kept.* from unnest($13::uuid[], $14::bytea[], $15::bytea[]) as kept where exists (select 1 from moved)
      on conflict (namespace, scope, id) do update set value = excluded.value)${removing ? removal : ""}
    select id from moved`;
}
