import { toLearnedFile } from "../../learned-file.js";
import { collectionNamed, collectionsOf, onlyCollection } from "../../reports/collections.js";
import { plural, safeJson, shown } from "../../terminal/text.js";
import type { Input, Output } from "../command.js";

export async function run({ open, options, note }: Input): Promise<Output> {
  const { collection: named } = options as { readonly collection?: string };
  const ledger = await open();
  const { engine, namespace } = ledger;
  const collections = await collectionsOf(ledger);
  const { collection } = named === undefined ? onlyCollection(collections) : collectionNamed(named, collections);
  const file = await toLearnedFile(engine, namespace, collection);
  const memories = plural(file.memories.length, "memory", "memories");
  note(`${memories} of collection ${shown(file.collection)}, learner ${file.learner}`);
  return { data: file, text: () => safeJson(file) };
}
