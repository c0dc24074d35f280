import type { NamespaceStatus } from "@qavr/core";
import { CommandError } from "../exit-codes.js";
import type { Ledger } from "../open-ledger.js";

type Collection = NamespaceStatus["collections"][number];

/** @throws CommandError CONFLICT where another learner wrote the memories, which cannot be read then */
export async function collectionsOf({ engine, namespace }: Ledger): Promise<readonly Collection[]> {
  const { collections, learner } = await engine.status({ namespace });
  if (learner === engine.learner.id) return collections;
  throw new CommandError(
    "CONFLICT",
    `Namespace ${namespace} was learned by ${learner}, whose memories ${engine.learner.id} cannot read. Read them in the application that has it.`,
  );
}

/** @throws CommandError NOT_FOUND for a name that none of the collections has */
export function collectionNamed(name: string, collections: readonly Collection[]): Collection {
  const found = collections.find(({ collection }) => collection === name);
  if (found) return found;
  throw new CommandError("NOT_FOUND", `There is no collection ${name}. ${listed(collections)}`);
}

/** @throws CommandError NOT_FOUND where there is none, USAGE where there are several */
export function onlyCollection(collections: readonly Collection[]): Collection {
  const [first, second] = collections;
  if (first && !second) return first;
  if (!first) throw new CommandError("NOT_FOUND", listed(collections));
  throw new CommandError("USAGE", `Name one collection with --collection. ${listed(collections)}`);
}

/** True where a list needs the names of its collections. */
export function areSeveral(rows: readonly { readonly collection: string }[]): boolean {
  return new Set(rows.map(({ collection }) => collection)).size > 1;
}

function listed(collections: readonly Collection[]): string {
  if (collections.length === 0) return "The namespace has learned nothing of any collection yet.";
  return `It has: ${collections.map(({ collection }) => collection).join(", ")}.`;
}
