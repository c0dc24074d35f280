import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { createEngine, type Engine, type HistoryEvent, type Learner, oar, QavrError, type Store } from "@qavr/core";
import { isPostgres, locationOf } from "@qavr/core/adapter";
import { governance, type SourceCap } from "@qavr/core/governance";
import { CommandError } from "./exit-codes.js";
import { learnerWithId } from "./learner-table.js";
import { count } from "./terminal/text.js";

/** Options that every command has. */
export interface LedgerOptions {
  /** Path of a SQLite ledger or a postgres:// URL. @default QAVR_STORE, else .qavr/ledger.db */
  readonly store?: string | undefined;
  /** @default `default` where that has entries, else the one of the first {@link LISTED_NAMESPACES} with the most entries */
  readonly namespace?: string | undefined;
}

export type Access = "read" | "write" | "create";

/** One ledger, opened for a command. */
export interface Ledger {
  readonly engine: Engine;
  readonly store: Store;
  /** Absolute path or URL without a password, for people. */
  readonly place: string;
  readonly namespace: string;
  /** The first {@link LISTED_NAMESPACES} namespaces of the ledger. */
  readonly namespaces: readonly string[];
  /** Parts of the store that cannot be reached; their namespaces are not listed. */
  readonly missing: readonly string[];
  close(): Promise<void>;
}

export const LISTED_NAMESPACES = 1_000;
/** Entries at the end of a ledger with damaged states among which its learner's name is looked for. */
const TAIL = 50;
/** Entries at the end of a ledger among which the caps of sources are looked for. */
const RECENT = 500;

/**
 * Opens a ledger with the learner that wrote it.
 *
 * @param access `read` writes nothing and works beside a running application; `write` needs a ledger that exists; `create` does not
 * @throws CommandError NOT_FOUND for a namespace without entries, and the codes of stores
 */
export async function openLedger(options: LedgerOptions, access: Access = "read"): Promise<Ledger> {
  const guarded = access === "read";
  return openedLedger(options, access, guarded).catch((error: unknown) => {
    // A pooler takes no settings, so that the server cannot refuse writes. A command that reads does none.
    if (!guarded || !isRefusedSetting(error)) throw error;
    return openedLedger(options, access, false);
  });
}

function isRefusedSetting(error: unknown): boolean {
  return QavrError.isInstance(error, "STORE_UNAVAILABLE") && /unsupported startup parameter/i.test(error.message);
}

async function openedLedger(options: LedgerOptions, access: Access, guarded: boolean): Promise<Ledger> {
  const { store, place } = await openStore(options.store, access, guarded);
  try {
    // A command that changes something must not choose among some of the namespaces.
    const partial = access === "read" || options.namespace !== undefined;
    return await ledgerIn(store, place, options.namespace, { partial, create: access === "create" });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * A namespace of an open store, with the learner that wrote it.
 *
 * @param options.partial true to go on where a part of the store cannot be reached
 * @param options.create true to take a namespace without entries
 * @throws CommandError NOT_FOUND for a namespace without entries
 */
export async function ledgerIn(
  store: Store,
  place: string,
  named: string | undefined,
  { partial, create = false }: { readonly partial: boolean; readonly create?: boolean },
): Promise<Ledger> {
  const missing: string[] = [];
  const onMissing = (part: string): void => void missing.push(part);
  const namespaces = await store.namespaces({ limit: LISTED_NAMESPACES, ...(partial ? { onMissing } : {}) });
  const namespace = create && named !== undefined ? named : await chosen(store, namespaces, named);
  const learner = await learnerOf(store, namespace);
  const engine = engineOn(store, learner, await capOf(store, namespace));
  return { engine, store, place, namespace, namespaces, missing, close: () => engine.close() };
}

/**
 * An engine for a command, which may take long.
 *
 * @param sourceCaps caps by which it describes sources. @default none
 */
export function engineOn(store: Store, learner: Learner, sourceCaps?: SourceCap): Engine {
  // Entries that were recorded under rules of trust need them; the others do not notice.
  const rules = governance({ sourceCaps });
  return createEngine({ store, learner, governance: rules, readTimeout: 60_000, writeTimeout: 600_000 });
}

/**
 * Opens the store that a path or URL names.
 *
 * @param guarded true for connections to PostgreSQL on which the server itself refuses writes
 * @throws CommandError USAGE for a place that keeps nothing, and the codes of stores
 */
export async function openStore(
  named: string | undefined,
  access: Access,
  guarded: boolean = access === "read",
): Promise<{ readonly store: Store; readonly place: string }> {
  const location = locationOf(named);
  const readOnly = access === "read";
  if (!isPostgres(location)) {
    assertKeeps(location);
    if (access !== "create" && isMissing(location)) {
      throw new QavrError(
        "STORE_UNAVAILABLE",
        `There is no ledger ${resolve(location)} yet. Run your application once, name another with --store, or try npx qavr demo.`,
      );
    }
    const { sqliteStore } = await import("@qavr/sqlite");
    return { store: sqliteStore({ path: location, readOnly }), place: resolve(location) };
  }
  const { postgresStore } = await import("@qavr/postgres");
  const connectionString = guarded ? withReadOnlyTransactions(location) : location;
  const store = postgresStore({ connectionString, migrate: access === "create", listen: false, maxConnections: 4 });
  return { store, place: withoutPassword(location) };
}

/** False for a file in a folder that must not be entered: opening it names that obstacle. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** @throws CommandError USAGE, INVALID_ARGUMENT for a URL, which would make folders of its parts */
export function fileNamed(path: string): string {
  if (!isPostgres(locationOf(path))) return path;
  throw new CommandError("USAGE", "Name the path of a file. Received a postgres:// URL.");
}

/** @throws CommandError CONFLICT where a file has the path already */
export function assertFree(path: string): void {
  if (!existsSync(path)) return;
  throw new CommandError(
    "CONFLICT",
    `The file ${resolve(path)} exists already. Name a new path: nothing is overwritten.`,
  );
}

/** @throws CommandError USAGE for a path that keeps nothing */
export function assertKeeps(path: string): void {
  if (path !== "" && path !== ":memory:") return;
  throw new CommandError("USAGE", `Name the path of a file or a postgres:// URL. Received "${path}".`);
}

/** The server itself refuses writes on such a connection. */
function withReadOnlyTransactions(location: string): string {
  return edited(location, (url) => {
    const options = url.searchParams.get("options");
    url.searchParams.set("options", `${options ? `${options} ` : ""}-c default_transaction_read_only=on`);
  });
}

function withoutPassword(location: string): string {
  return edited(location, (url) => {
    url.password = "";
    url.search = "";
  });
}

/** A changed URL. It may name several servers, or none and a socket in `?host=`, which `URL` does not allow. */
function edited(location: string, change: (url: URL) => void): string {
  const [begin = "", hosts = ""] = /^[^:]+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(location) ?? [];
  const one = hosts === "" || hosts.includes(",") ? "other.servers" : hosts;
  const url = URL.parse(begin.slice(0, begin.length - hosts.length) + one + location.slice(begin.length));
  if (!url) {
    const message = "The URL of the store cannot be read. Write / ? # and % of its password as %2F %3F %23 and %25.";
    throw new CommandError("USAGE", message);
  }
  change(url);
  return url.href.replace(one, hosts);
}

async function chosen(store: Store, namespaces: readonly string[], named: string | undefined): Promise<string> {
  if (named !== undefined) {
    if (namespaces.includes(named) || (await store.head(named)) > 0) return named;
    const known = namespaces.length === 0 ? "The ledger is empty." : `It has: ${namespaces.slice(0, 10).join(", ")}.`;
    throw new CommandError("NOT_FOUND", `The namespace ${named} has no entries in this ledger. ${known}`);
  }
  if (namespaces.includes("default")) return "default";
  // A full list may end before it.
  if (namespaces.length === LISTED_NAMESPACES && (await store.head("default")) > 0) return "default";
  return (await largestOf(store, namespaces)) ?? "default";
}

/**
 * Call it before a command changes its namespace: of more namespaces than are listed, the one with the most entries is not known.
 *
 * @param named what the command line names
 * @throws CommandError USAGE for a namespace that was chosen among some of them
 */
export function assertChosen({ namespace, namespaces }: Ledger, named: unknown): void {
  if (named !== undefined || namespace === "default" || namespaces.length < LISTED_NAMESPACES) return;
  const many = count(LISTED_NAMESPACES);
  throw new CommandError("USAGE", `The ledger has ${many} namespaces or more. Name one by --namespace.`);
}

/** The namespace with the most entries; undefined for none. */
export async function largestOf(store: Store, namespaces: readonly string[]): Promise<string | undefined> {
  const heads = await Promise.all(namespaces.map((name) => store.head(name)));
  return namespaces[heads.indexOf(Math.max(...heads))];
}

/** The learner that wrote the states; the default one for a ledger without, or with a learner of the application's own. */
export async function learnerOf(store: Store, namespace: string): Promise<Learner> {
  // A learner that wrote nothing reads the counters alone, however large the states are.
  const engine = engineOn(store, { ...oar(), id: "none@0" });
  const { learner } = await engine.status({ namespace }).catch(async (error: unknown) => {
    if (!QavrError.isInstance(error, "STORE_CORRUPT") && !QavrError.isInstance(error, "INVALID_STATE")) throw error;
    // Damaged states do not name it; the latest entries do.
    const after = Math.max(0, (await store.head(namespace)) - TAIL);
    const { events } = await engine.history({ namespace, after, limit: TAIL });
    return { learner: events.flatMap(learnersIn).at(-1) };
  });
  return (await learnerWithId(learner)) ?? oar();
}

/** The cap under which the application recorded its latest capped outcome; undefined without one, and for entries that cannot be read. */
async function capOf(store: Store, namespace: string): Promise<SourceCap | undefined> {
  const after = Math.max(0, (await store.head(namespace)) - RECENT);
  const history = engineOn(store, oar()).history({ namespace, after, limit: RECENT });
  const { events } = await history.catch(() => ({ events: [] }));
  return events.flatMap((event) => (event.type === "outcome" ? (event.rules?.cap ?? []) : [])).at(-1);
}

function learnersIn(event: HistoryEvent): readonly string[] {
  if (event.type === "exposure") return event.exposures.map(({ learner }) => learner);
  return event.type === "import" ? [event.learner] : [];
}
