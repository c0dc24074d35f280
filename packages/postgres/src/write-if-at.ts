import { oneByOne } from "./one-by-one.js";

/**
 * A condition that always holds, and lets the commit of its statement wait for the disk. Each statement sees to that by itself: the
 * setting may be changed at any time, for the server or for a session. One that waits for more stays as it is.
 */
export const DURABLY = `(select case current_setting('synchronous_commit')
  when 'off' then set_config('synchronous_commit', 'on', true) else 'as it is' end) is not null`;

/** A condition that always holds, and bounds how long its statement waits for a row that it comes to after looking at it. ms */
function waitingAtMost(lockTimeout: number): string {
  return `(select set_config('lock_timeout', '${lockTimeout}', true)) is not null`;
}

/**
 * One statement, one round trip, one moment: the row of the namespace is locked by changing it, and found changed by all others. It
 * brings its own limit for waiting: sessions of an application's pool have none.
 */
export function writeIfAt(schema: string, removing: boolean, lockTimeout: number): string {
  const removal = `,
    removed as (
      delete from ${schema}.state using unnest($16::uuid[], $17::bytea[]) as gone (scope, id)
      where state.namespace = $1 and state.scope = gone.scope and state.id = gone.id and exists (select from moved))`;
  return `
    with moved as (
      update ${schema}.namespace set head = $4, revision = $5, digest = $6
      where id = $1 and revision = $2 and digest = $3 and ${DURABLY} and ${waitingAtMost(lockTimeout)}
        and not exists (select from unnest($8::bytea[]) as wanted (key)
          ${oneByOne(`select from ${schema}.entry where namespace = $1 and key = wanted.key`, "taken")})
      returning id),
    appended as (
      insert into ${schema}.entry (namespace, seq, key, type, at, payload, digest)
      select $1, added.* from unnest(
        $7::bigint[], $8::bytea[], $9::bytea[], $10::double precision[], $11::bytea[], $12::bytea[]) as added
      where exists (select from moved)),
    written as (
      insert into ${schema}.state (namespace, scope, id, value)
      select $1, kept.* from unnest($13::uuid[], $14::bytea[], $15::bytea[]) as kept where exists (select from moved)
      on conflict (namespace, scope, id) do update set value = excluded.value)${removing ? removal : ""}
    select id from moved`;
}
