import type { StateRef } from "../store/store.js";

const encoder = new TextEncoder();
/** A byte order mark is a character like any other. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The scopes of the fold's states. One list, so that no two kinds of state can collide. */
export const SCOPES = {
  episode: "episode",
  alias: "alias",
  shared: "shared",
  stats: "stats",
  source: "source",
  memory: "memory:",
  label: "label:",
  revisit: "revisit",
  place: "place",
} as const;

export const episodeRef = (episode: string): StateRef => ({ scope: SCOPES.episode, id: episode });
/** The value of an alias is its episode's id, as UTF-8. */
export const aliasRef = (alias: string): StateRef => ({ scope: SCOPES.alias, id: alias });
export const sharedRef = (collection: string): StateRef => ({ scope: SCOPES.shared, id: collection });
export const sourceRef = (source: string): StateRef => ({ scope: SCOPES.source, id: source });
export const memoryScope = (collection: string): string => SCOPES.memory + collection;
/** The collection whose memories a scope holds; undefined for any other scope. */
export function collectionOf(scope: string): string | undefined {
  return scope.startsWith(SCOPES.memory) ? scope.slice(SCOPES.memory.length) : undefined;
}
export const memoryRef = (collection: string, id: string): StateRef => ({ scope: memoryScope(collection), id });
/** The labels of a collection's memories, apart from their records: these change with every outcome, and rankings read them. */
export const labelScope = (collection: string): string => SCOPES.label + collection;
/** The value of a label is its text, as UTF-8; no bytes for none. */
export const labelRef = (collection: string, id: string): StateRef => ({ scope: labelScope(collection), id });
export const statsRef: StateRef = { scope: SCOPES.stats, id: "namespace" };
/** The state of a ring of episodes to visit again. */
export const ringRef = (name: string): StateRef => ({ scope: SCOPES.revisit, id: name });
/** One place of a ring; its value is an episode's id, as UTF-8. */
export const slotRef = (name: string, slot: number): StateRef => ({ scope: SCOPES.revisit, id: `${name}:${slot}` });
/** Present from a revocation until the states are built without the revoked outcomes. Its value is the revocation's place, as text. */
export const rebuildRef: StateRef = { scope: SCOPES.stats, id: "rebuild" };
/**
 * Present from a namespace's first move on: the name of the store that has its later entries, as UTF-8. It follows from the ledger, so
 * every copy of the ledger that is complete names the same store.
 */
export const placeRef: StateRef = { scope: SCOPES.place, id: "store" };

export const textValue = (text: string): Uint8Array => encoder.encode(text);
export const textOfValue = (value: Uint8Array): string => decoder.decode(value);
