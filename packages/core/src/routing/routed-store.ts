import { illegalOption } from "../errors/illegal-option.js";
import { QavrError } from "../errors/qavr-error.js";
import { placeRef, textOfValue } from "../ledger/state-keys.js";
import type {
  LedgerCheck,
  LedgerDamage,
  NamespaceListOptions,
  NamespacePlace,
  ReadOptions,
  StateChanges,
  Store,
  StoreCapabilities,
  StorePlaces,
} from "../store/store.js";
import { assertLimit, assertName, compareNames } from "../store/validate.js";
import type { OnStates } from "../store/write-overlay.js";

/** Stores, and the homes of namespaces among them. */
export interface RoutedStoreOptions {
  /** The stores by name. A name stays with its data: moves are recorded by it. */
  readonly stores: Readonly<Record<string, Store>>;
  /**
   * Name of a namespace's home: the store that it begins in, and where a process looks first. All processes must give the same answer,
   * for ever, also after stores were added: {@link rendezvous} over the names of the first stores, or a table of your own.
   */
  readonly by: (namespace: string) => string;
}

/** Longest wait of a call for the end of a move, ms. */
const LONGEST_HOLD = 5_000;
/** Pause between two looks, ms. */
const PAUSE = 5;
/** Namespaces of one page of a check. */
const PAGE = 1_000;
/** Damages that a check names. */
const NAMED = 100;
/** Cursors of one store; those after a move are above it. */
const CURSORS = 2 ** 40;

/** Thrown by a reduction in a store that its namespace has left. */
class Elsewhere extends Error {}

/**
 * One store out of several: each namespace lives in one of them, and `moveNamespace` of `@qavr/core/maintenance` takes it to another
 * while it is written to. A store that fails stops its own namespaces; `repair`, `eraseNamespace` and
 * whole lists need all stores.
 *
 * A move is an entry of the namespace's ledger, and the place that it names is a state. Each commit reads that state under the
 * namespace's lock, so that a store refuses the writes of processes that do not know of the move yet; they look again, from the home
 * on. The store that was left keeps its copy of the ledger up to the move.
 *
 * @throws INVALID_ARGUMENT for a missing store or an answer of `by` that names none; STORE_BUSY from calls during a move that takes too
 *   long or was interrupted
 * @example
 * routedStore({ stores: { north, south }, by: rendezvous(["north", "south"]) })
 */
export function routedStore(options: RoutedStoreOptions): Store & { readonly places: StorePlaces } {
  const { stores, by } = checked(options);
  const all = Object.values(stores);
  /** Places of namespaces that are not at home. */
  const found = new Map<string, string>();
  /** How often this handle found a namespace elsewhere than before. */
  const switches = new Map<string, number>();

  const homeOf = (namespace: string): string => {
    assertName(namespace, "namespace");
    return known(by(namespace), namespace);
  };
  const known = (name: string, namespace: string): string => {
    if (Object.hasOwn(stores, name)) return name;
    throw illegalOption("stores", `routedStore: namespace ${namespace} is in a store that stores does not name`, name);
  };
  const lastPlace = (namespace: string): string => found.get(namespace) ?? homeOf(namespace);
  const storeOf = (name: string): Store => stores[name] as Store;

  /** The place that a store's copy of a namespace names. */
  const placeIn = async (name: string, namespace: string, read?: ReadOptions): Promise<string> => {
    const [value] = await storeOf(name).readStates(namespace, placeRef.scope, [placeRef.id], read);
    return value ? known(textOfValue(value), namespace) : homeOf(namespace);
  };

  /** Follows the places from home on. A move is not finished while they lead in a circle; the longest ledger is the whole one. */
  const locate = async (namespace: string): Promise<NamespacePlace> => {
    const places = new Map<string, string>();
    for (let name = homeOf(namespace); ; ) {
      const place = await placeIn(name, namespace);
      if (place === name) return { holder: name, place };
      places.set(name, place);
      if (places.has(place)) break;
      name = place;
    }
    const heads = await Promise.all([...places.keys()].map((name) => storeOf(name).head(namespace)));
    const holder = [...places.keys()][heads.indexOf(Math.max(...heads))] as string;
    return { holder, place: places.get(holder) as string };
  };

  const note = (namespace: string, place: string): void => {
    if (place === lastPlace(namespace)) return;
    if (place === homeOf(namespace)) found.delete(namespace);
    else found.set(namespace, place);
    switches.set(namespace, (switches.get(namespace) ?? 0) + 1);
  };

  /** Finds a namespace that is not where it was. */
  const follow = async (namespace: string): Promise<void> => {
    const giveUpAt = Date.now() + LONGEST_HOLD;
    for (;;) {
      const { holder, place } = await locate(namespace);
      if (holder === place) return note(namespace, place);
      if (Date.now() >= giveUpAt) throw unfinished(namespace, holder, place);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  };

  /** Reads where a namespace lives. The place is asked for after the answer, which then was the whole truth when it was given. */
  const reading = async <Result>(
    namespace: string,
    read: (store: Store) => Promise<Result>,
    check?: ReadOptions,
  ): Promise<Result> => {
    for (;;) {
      const name = lastPlace(namespace);
      const result = await read(storeOf(name));
      if ((await placeIn(name, namespace, check)) === name) return result;
      await follow(namespace);
    }
  };

  /** Works under the lock of a namespace where it lives. */
  const writing = async <Result>(
    namespace: string,
    write: (store: Store, only: <Written>(work: OnStates<Written>) => OnStates<Written>) => Promise<Result>,
  ): Promise<Result> => {
    for (;;) {
      const name = lastPlace(namespace);
      const home = homeOf(namespace);
      try {
        return await write(storeOf(name), (work) => onlyIn(name, home, work));
      } catch (error) {
        if (!(error instanceof Elsewhere)) throw error;
      }
      await follow(namespace);
    }
  };

  type Verify = NonNullable<Store["verify"]>;
  const verifyOne = (namespace: string, progress?: Parameters<Verify>[1]): Promise<LedgerCheck> =>
    reading(namespace, (store) => (store.verify as Verify)(namespace, progress));

  /** Checks every store, and adds up the namespaces that can be read. */
  const verifyAll = async (progress?: Parameters<Verify>[1]): Promise<LedgerCheck> => {
    const damage: LedgerDamage[] = [];
    let damaged = 0;
    /** Problems of stores that cannot be reached. */
    const away = new Set<string>();
    const reached: Record<string, Store> = {};
    const undamaged: string[] = [];
    for (const [name, store] of Object.entries(stores)) {
      try {
        const check = await (store.verify as Verify)(undefined, progress);
        damaged += check.damaged;
        damage.push(...check.damage.map((one) => ({ ...one, problem: `store ${name}: ${one.problem}` })));
        reached[name] = store;
        if (check.damaged === 0) undamaged.push(`store ${name}`);
      } catch (error) {
        away.add(`store ${name} could not be checked: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    const digests: string[] = [];
    let entries = 0;
    let after: string | undefined;
    for (let page: readonly string[] = []; ; ) {
      // Only where the report names damage already: a part that goes away during the check must not pass for an empty one.
      // Another store's own check has named its parts.
      const onMissing = (part: string): void => {
        const isNew = undamaged.some((name) => part === name || part.startsWith(`${name}: `));
        if (isNew) away.add(`${part} went away during the check`);
      };
      const isReported = damaged + away.size > 0 ? { onMissing } : {};
      page = await listed(reached, { ...(after === undefined ? {} : { after }), limit: PAGE, ...isReported });
      for (const namespace of page) {
        // A namespace of a store that cannot be reached; the report names the store.
        const check = await verifyOne(namespace).catch(() => undefined);
        if (!check || check.namespaces === 0) continue;
        digests.push(check.digest);
        entries += check.entries;
      }
      after = page.at(-1);
      if (page.length < PAGE) break;
    }
    const digest = await digestOf(digests);
    // First, since the damage of another store may fill the report.
    const all = [...[...away].map((problem) => ({ problem })), ...damage];
    return { namespaces: digests.length, entries, digest, damaged: damaged + away.size, damage: all.slice(0, NAMED) };
  };

  const changesSince: NonNullable<Store["changesSince"]> = (namespace, cursor) => {
    const first = (switches.get(namespace) ?? 0) * CURSORS;
    const own = cursor >= first && cursor < first + CURSORS ? cursor - first : 0;
    const changes = storeOf(lastPlace(namespace)).changesSince?.(namespace, own) as StateChanges;
    return { ...changes, cursor: first + changes.cursor };
  };

  const readCheckpoint: NonNullable<Store["readCheckpoint"]> = (namespace) =>
    reading(namespace, async (store) => store.readCheckpoint?.(namespace));

  const repair = async (): Promise<void> => {
    for (const store of all) await store.repair?.();
  };

  const has = (method: keyof Store): boolean => all.every((store) => store[method] !== undefined);
  const optional: Partial<Store> = {
    ...(has("changesSince") ? { changesSince } : {}),
    ...(has("readCheckpoint") ? { readCheckpoint } : {}),
    ...(has("verify")
      ? {
          verify: (namespace, progress) =>
            namespace === undefined ? verifyAll(progress) : verifyOne(namespace, progress),
        }
      : {}),
    ...(has("repair") ? { repair } : {}),
  };

  return {
    name: "routed",
    capabilities: capabilitiesOf(all),
    places: { stores, lastPlace, locate },

    commit: (namespace, entries, reduce) =>
      writing(namespace, (store, only) => store.commit(namespace, entries, (entry) => only(reduce(entry)))),

    atHead: (namespace, given) =>
      writing(namespace, (store, only) =>
        store.atHead(namespace, { ...given, work: (entries, head) => only(given.work(entries, head)) }),
      ),

    async readStates(namespace, scope, ids, given) {
      // The refresh has asked for the place.
      if (given?.refreshed) return storeOf(lastPlace(namespace)).readStates(namespace, scope, ids, given);
      return reading(namespace, (store) => store.readStates(namespace, scope, ids, given), given);
    },

    refresh: (namespace, given) =>
      reading(namespace, async (store) => store.refresh?.(namespace, given), { ...given, refreshed: true }),

    async scanStates(namespace, ...rest) {
      return reading(namespace, (store) => store.scanStates(namespace, ...rest));
    },
    async readEntries(namespace, given) {
      return reading(namespace, (store) => store.readEntries(namespace, given));
    },
    async findKey(namespace, key) {
      return reading(namespace, (store) => store.findKey(namespace, key));
    },
    async head(namespace) {
      return reading(namespace, (store) => store.head(namespace));
    },
    async namespaces(page) {
      assertLimit(page.limit);
      return listed(stores, page);
    },

    async eraseNamespace(namespace) {
      const home = homeOf(namespace);
      // Home last: a namespace can begin again there only, once no store has anything of it.
      for (const [name, store] of Object.entries(stores)) if (name !== home) await store.eraseNamespace(namespace);
      await storeOf(home).eraseNamespace(namespace);
      note(namespace, home);
    },

    async close() {
      const closed = await Promise.allSettled(all.map((store) => store.close()));
      for (const one of closed) if (one.status === "rejected") throw one.reason;
    },

    ...optional,
  };
}

/** Work on states that refuses a store that is not the namespace's place. */
function* onlyIn<Result>(name: string, home: string, work: OnStates<Result>): OnStates<Result> {
  let step = work.next();
  // Asked for with the first states, so that it costs no round trip.
  const values = yield [...(step.done ? [] : step.value), placeRef];
  const place = values.at(-1);
  if ((place ? textOfValue(place) : home) !== name) throw new Elsewhere();
  if (!step.done) step = work.next(values.slice(0, -1));
  while (!step.done) step = work.next(yield step.value);
  return step.value;
}

/** One page of the namespaces of several stores. */
async function listed(
  stores: RoutedStoreOptions["stores"],
  { onMissing, ...page }: NamespaceListOptions,
): Promise<readonly string[]> {
  const pages = Object.entries(stores).map(async ([name, store]) => {
    if (!onMissing) return store.namespaces(page);
    try {
      return await store.namespaces({ ...page, onMissing: (part) => onMissing(`store ${name}: ${part}`) });
    } catch (error) {
      if (QavrError.isInstance(error, "STORE_CLOSED")) throw error;
      onMissing(`store ${name}`);
      return [];
    }
  });
  return [...new Set((await Promise.all(pages)).flat())].sort(compareNames).slice(0, page.limit);
}

/** The weakest of all: a namespace may live in any of them. */
function capabilitiesOf(stores: readonly Store[]): StoreCapabilities {
  const all = stores.map(({ capabilities }) => capabilities);
  const staleness = Math.max(...all.map(({ staleness = 0 }) => staleness));
  return {
    durable: all.every(({ durable }) => durable),
    sharedBackend: all.every(({ sharedBackend }) => sharedBackend),
    ...(staleness > 0 ? { staleness } : {}),
  };
}

/** Digest of several namespaces from theirs, as a single store gives it: the first half of their SHA-256. */
async function digestOf(digests: readonly string[]): Promise<string> {
  const bytes = Uint8Array.from(digests.join("").match(/../g) ?? [], (hex) => Number.parseInt(hex, 16));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function checked(options: RoutedStoreOptions): RoutedStoreOptions {
  const { stores, by } = options ?? {};
  const isStores =
    typeof stores === "object" &&
    stores !== null &&
    Object.keys(stores).length > 0 &&
    Object.values(stores).every((store) => typeof store?.commit === "function");
  if (!isStores) throw illegalOption("stores", "routedStore: stores must have at least one store, by name", stores);
  if (typeof by !== "function") {
    throw illegalOption("by", "routedStore: by must be a function that names the home of a namespace", by);
  }
  return { stores: { ...stores }, by };
}

function unfinished(namespace: string, holder: string, place: string): QavrError {
  return new QavrError(
    "STORE_BUSY",
    `Namespace ${namespace} is being moved from store ${holder} to store ${place}, or its move or erasure was interrupted. Repeat moveNamespace() to ${place}, or the erasure.`,
    { details: { namespace, holder, place } },
  );
}
