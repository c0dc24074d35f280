import type { ReadOptions } from "@qavr/core/store";
import type { Connection } from "../connection/connections.js";
import type { LedgerSql, StatesRead } from "../tables/ledger-sql.js";
import { ABSENT, isSameMoment } from "../tables/moment.js";
import type { KnownStates } from "./known-states.js";

/** Runs a read of one namespace on a connection. */
export type ReadNamespace = <Result>(
  namespace: string,
  read: (connection: Connection) => Promise<Result>,
) => Promise<Result>;

export interface StateReader {
  /**
   * @param options.mayLag accept states within the staleness
   * @param options.refreshed accept states known when `refresh` answered
   */
  read(
    namespace: string,
    scope: string,
    ids: readonly string[],
    options: Required<ReadOptions>,
  ): Promise<readonly (Uint8Array | undefined)[]>;
  /** Makes sure that the known moment of a namespace is current, or within the staleness. */
  refresh(namespace: string, mayLag: boolean): Promise<void>;
}

interface Sources {
  readonly sql: LedgerSql;
  readonly states: KnownStates;
  readonly primary: ReadNamespace;
  readonly replica: ReadNamespace | undefined;
  /** ms */
  readonly staleness: number;
}

/**
 * Reads states through the cache. Cached states are valid only at their moment: an exact read asks the server for the current moment, in
 * one short look-up, and for states only when they are missing or out of date.
 */
export function stateReader({ sql, states, primary, replica, staleness }: Sources): StateReader {
  const isFresh = (namespace: string): boolean => states.askedSince(namespace, performance.now() - staleness);

  /** Asks for the current moment; afterwards the known moment, if any, is no older. */
  const verify = async (namespace: string): Promise<void> => {
    const askedAt = performance.now();
    const moment = await primary(namespace, (connection) => sql.moment(connection, namespace));
    states.observe(namespace, moment, { askedAt, answeredAt: performance.now() });
  };

  const readPrimary = async (namespace: string, scope: string, ids: readonly string[]): Promise<StatesRead> => {
    const askedAt = performance.now();
    const found = await primary(namespace, (connection) => sql.states(connection, namespace, scope, ids));
    const asked = { askedAt, answeredAt: performance.now() };
    if (states.observe(namespace, found.moment, asked)) remember(namespace, scope, ids, found);
    return found;
  };

  /** States from the replica, undefined when it is behind the known moment or does not answer. */
  const readReplica = async (
    namespace: string,
    scope: string,
    ids: readonly string[],
  ): Promise<StatesRead | undefined> => {
    if (!replica) return undefined;
    if (!isFresh(namespace)) await verify(namespace);
    const known = states.moment(namespace);
    // The replica may still have an erased namespace.
    if (known === undefined || known.revision === ABSENT.revision) return undefined;
    const found = await replica(namespace, (connection) => sql.states(connection, namespace, scope, ids)).catch(
      () => undefined,
    );
    if (!found) return undefined;
    if (found.moment.revision <= known.revision && !isSameMoment(found.moment, known)) return undefined;
    // A later moment is learned from the primary only: the replica may still have an erased namespace.
    if (isSameMoment(found.moment, states.moment(namespace))) remember(namespace, scope, ids, found);
    return found;
  };

  const remember = (namespace: string, scope: string, ids: readonly string[], { values }: StatesRead): void => {
    for (const [place, id] of ids.entries()) states.cache.write(namespace, scope, id, values[place]);
  };

  return {
    async read(namespace, scope, ids, { mayLag, refreshed }) {
      if (ids.length === 0) return [];
      const moment = states.moment(namespace);
      const values = new Array<Uint8Array | undefined>(ids.length).fill(undefined);
      const unknown = moment === undefined ? [...ids.keys()] : states.cache.read(namespace, scope, ids, values);
      if (unknown.length === 0) {
        if (refreshed || (mayLag && isFresh(namespace))) return values;
        await verify(namespace);
        if (isSameMoment(states.moment(namespace), moment)) return values;
      } else if (unknown.length < ids.length) {
        const missing = unknown.map((place) => ids[place] as string);
        const found =
          (mayLag ? await readReplica(namespace, scope, missing) : undefined) ??
          (await readPrimary(namespace, scope, missing));
        for (const [i, place] of unknown.entries()) values[place] = found.values[i];
        if (isSameMoment(found.moment, moment)) return values;
      }
      // Cached and read states are of different moments, so read all at one moment.
      const all =
        (mayLag ? await readReplica(namespace, scope, ids) : undefined) ?? (await readPrimary(namespace, scope, ids));
      return all.values;
    },

    async refresh(namespace, mayLag) {
      if (mayLag && isFresh(namespace)) return;
      await verify(namespace);
    },
  };
}
