import type { StateRef } from "../store/store.js";

/** Where the ledger's fold keeps what. One place for every scope, so that no two kinds of state can meet. */
export const SCOPES = {
  episode: "episode",
  alias: "alias",
  shared: "shared",
  stats: "stats",
  memory: "memory:",
} as const;

export const episodeRef = (episode: string): StateRef => ({ scope: SCOPES.episode, id: episode });
/** The value of an alias is its episode's id. */
export const aliasRef = (alias: string): StateRef => ({ scope: SCOPES.alias, id: alias });
export const sharedRef = (collection: string): StateRef => ({ scope: SCOPES.shared, id: collection });
export const memoryScope = (collection: string): string => SCOPES.memory + collection;
export const memoryRef = (collection: string, id: string): StateRef => ({ scope: memoryScope(collection), id });
export const statsRef: StateRef = { scope: SCOPES.stats, id: "namespace" };
