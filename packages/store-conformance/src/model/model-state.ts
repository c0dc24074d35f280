import type { Store } from "@qavr/core";
import { expect } from "vitest";
import { allEntries, allNamespaces, allStates } from "../fixtures/read-all.js";
import { StateMirror } from "../fixtures/state-mirror.js";

/** Few names on purpose: random sequences should meet the same ones again. */
export const MODEL_NAMESPACES: readonly string[] = ["a", "ab", "A", "a ", "a\0", "%"];
export const MODEL_SCOPES: readonly string[] = ["memory:docs", "memory:", "stats"];
export const MODEL_IDS: readonly string[] = ["m", "m1", "m\0", "M", "é", "e\u0301"];

/** The candidate: one or two handles on one backend, and how to open another. */
export interface Candidate {
  handles: Store[];
  /** States kept by a reader of each handle, by namespace. */
  readonly mirrors: Map<Store, Map<string, StateMirror>>;
  open(): Promise<Store>;
}

/** The reference that every command is applied to as well. */
export interface Model {
  readonly reference: Store;
}

/** Expects every handle of the candidate to hold what the reference holds: heads, entries, states by read and by scan. */
export async function expectEqual(
  reference: Store,
  candidate: Candidate,
  namespaces: readonly string[],
): Promise<void> {
  await Promise.all(
    candidate.handles.map(async (handle) => {
      expect((await allNamespaces(handle, 2)).sort()).toEqual((await allNamespaces(reference)).sort());
      for (const namespace of namespaces) {
        expect(await handle.head(namespace)).toBe(await reference.head(namespace));
        expect(await allEntries(handle, namespace)).toEqual(await allEntries(reference, namespace));
        for (const scope of MODEL_SCOPES) {
          expect(await allStates(handle, namespace, scope)).toEqual(await allStates(reference, namespace, scope));
          const expected = await reference.readStates(namespace, scope, MODEL_IDS);
          expect(await handle.readStates(namespace, scope, MODEL_IDS)).toEqual(expected);
          expect(await mirrorOf(candidate, handle, namespace).read(scope, MODEL_IDS)).toEqual(expected);
        }
      }
    }),
  );
}

function mirrorOf({ mirrors }: Candidate, handle: Store, namespace: string): StateMirror {
  const byNamespace = mirrors.get(handle) ?? new Map<string, StateMirror>();
  mirrors.set(handle, byNamespace);
  const mirror = byNamespace.get(namespace) ?? new StateMirror(handle, namespace);
  byNamespace.set(namespace, mirror);
  return mirror;
}
