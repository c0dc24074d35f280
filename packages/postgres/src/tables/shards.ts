import type { Limits } from "../connection/connections.js";
import { DURABLY } from "../connection/transaction.js";
import { TABLES } from "./create-tables.js";
import { oneByOne, quotedText } from "./sql-text.js";

/** Begins a transaction that distributes tables: its statements reach the nodes one after the other, each over one connection. */
export const IN_SEQUENCE = "set local citus.multi_shard_modify_mode = 'sequential';";

/** Has the settings of a transaction's `set local` reach every node that it asks. Needs a round trip of its own, and so do they. */
export const ON_EVERY_NODE = "set local citus.propagate_set_commands = 'local'";

/** Parameters of a function, in order, with their types. */
type Parameters = readonly (readonly [name: string, type: string])[];

const ENTER: Parameters = [
  ["ns", "uuid"],
  ["lock_wait", "integer"],
  ["longest", "integer"],
  ["silence", "integer"],
];
const WRITE_IF_AT: Parameters = [
  ["ns", "uuid"],
  ["from_revision", "bigint"],
  ["from_digest", "bytea"],
  ["to_head", "bigint"],
  ["to_revision", "bigint"],
  ["to_digest", "bytea"],
  ["seqs", "bigint[]"],
  ["keys", "bytea[]"],
  ["types", "bytea[]"],
  ["ats", "double precision[]"],
  ["payloads", "bytea[]"],
  ["digests", "bytea[]"],
  ["scopes", "uuid[]"],
  ["ids", "bytea[]"],
  ["vals", "bytea[]"],
  ["gone_scopes", "uuid[]"],
  ["gone_ids", "bytea[]"],
  ["lock_wait", "integer"],
];

/**
 * Statements that distribute tables over the nodes of a Citus cluster. Rows of one namespace are on one node.
 *
 * @param schema quoted
 * @param prefix of their names
 */
export function distributeTables(schema: string, shards: number, prefix = ""): string {
  const named = (table: string): string => quotedText(`${schema}.${prefix}${table}`);
  const [first, ...others] = TABLES;
  return `
    select create_distributed_table(${named(first as string)}, 'id', colocate_with => 'none', shard_count => ${shards});
    ${others.map((table) => `select create_distributed_table(${named(table)}, 'namespace', colocate_with => ${named(first as string)});`).join("\n")}`;
}

/**
 * Statements that complete a ledger with distributed tables: a table that every node has, and two functions that run on the node of their
 * namespace. Without them the coordinator would write each commit as a two-phase commit among all nodes, and none could be written while
 * a node is down.
 *
 * @param schema quoted
 */
export function distributeWork(schema: string): string {
  const named = (name: string): string => quotedText(`${schema}.${name}`);
  const delegated = (name: string, parameters: Parameters, result: string, body: string): string => `
    create function ${schema}.${name}(${parameters.map((parameter) => parameter.join(" ")).join(", ")})
      returns ${result} language plpgsql as ${quotedText(body)};
    select create_distributed_function(${named(`${name}(${typesOf(parameters)})`)}, 'ns',
      colocate_with => ${named("namespace")}, force_delegation => true);`;
  return `
    select create_reference_table(${named("ledger")});
    ${delegated("enter", ENTER, "void", enterBody())}
    ${delegated("write_if_at", WRITE_IF_AT, "boolean", writeBody(schema))}`;
}

/**
 * Statements that keep everybody else from the tables until the transaction ends, in the order in which commits ask for them. A cluster
 * would lock its workers first, where commits by the coordinator then wait while they have locks there. So its own tables go first.
 *
 * @param schema quoted
 */
export function lockTables(schema: string, sharded: boolean): string[] {
  const lock = `lock table ${TABLES.map((table) => `${schema}.${table}`).join(", ")} in access exclusive mode`;
  const everywhere = (is: "on" | "off"): string => `set local citus.enable_ddl_propagation = ${is}`;
  return sharded ? [everywhere("off"), lock, everywhere("on"), lock] : [lock];
}

/**
 * Statements that take back {@link distributeWork}.
 *
 * @param schema quoted
 */
export function gatherWork(schema: string): string {
  return `
    drop function ${schema}.enter(${typesOf(ENTER)});
    drop function ${schema}.write_if_at(${typesOf(WRITE_IF_AT)});
    select undistribute_table(${quotedText(`${schema}.ledger`)});`;
}

/**
 * A condition that holds for a schema whose tables are distributed. The functions exist only there.
 *
 * @param schema quoted
 */
export function isSharded(schema: string): string {
  return `to_regproc(${quotedText(`${schema}.write_if_at`)}) is not null`;
}

/**
 * Statement that brings a transaction's settings to the node of its namespace: settings of the coordinator stay there.
 *
 * @param longest timeout of the statements of this transaction, ms
 */
export function enterShard(
  schema: string,
  id: string,
  { lockTimeout, statementTimeout }: Limits,
  longest: number = statementTimeout,
): string {
  return `select ${schema}.enter('${id}', ${lockTimeout}, ${longest}, ${statementTimeout});`;
}

/** Calls the function that writes like `writeIfAt` of the plain tables; all its values but the last. */
export function writeOnShard(schema: string, lockTimeout: number): string {
  const values = WRITE_IF_AT.slice(0, -1).map(([, type], i) => `$${i + 1}::${type}`);
  return `select ${schema}.write_if_at(${values.join(", ")}, ${lockTimeout}) as kept`;
}

function typesOf(parameters: Parameters): string {
  return parameters.map(([, type]) => type).join(", ");
}

function enterBody(): string {
  const set = (setting: string, value: string): string => `perform set_config('${setting}', ${value}::text, true);`;
  return `begin
    perform where ${DURABLY};
    ${set("lock_timeout", "lock_wait")}
    ${set("statement_timeout", "longest")}
    ${set("idle_in_transaction_session_timeout", "silence")}
    ${set("qavr.namespace", "ns")}
  end`;
}

/** Several statements, of which each finds the rows of the one before: updating the row of the namespace locks it until the commit. */
function writeBody(schema: string): string {
  const taken = oneByOne(`select 1 from ${schema}.entry where namespace = ns and key = wanted.key`, "taken");
  return `begin
    perform where ${DURABLY};
    perform set_config('lock_timeout', lock_wait::text, true);
    update ${schema}.namespace set head = to_head, revision = to_revision, digest = to_digest
      where id = ns and revision = from_revision and digest = from_digest
        and not exists (select 1 from unnest(keys) as wanted (key) ${taken});
    if not found then return false; end if;
    insert into ${schema}.entry (namespace, seq, key, type, at, payload, digest)
      select ns, added.* from unnest(seqs, keys, types, ats, payloads, digests) as added;
    insert into ${schema}.state (namespace, scope, id, value)
      select ns, kept.* from unnest(scopes, ids, vals) as kept
      on conflict (namespace, scope, id) do update set value = excluded.value;
    if cardinality(gone_ids) > 0 then
      delete from ${schema}.state using unnest(gone_scopes, gone_ids) as gone (scope, id)
        where state.namespace = ns and state.scope = gone.scope and state.id = gone.id;
    end if;
    return true;
  end`;
}
