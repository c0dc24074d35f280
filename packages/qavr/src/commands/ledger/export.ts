import { toLearnedFile } from "../../learned-file.js";
import { collectionNamed, onlyCollection } from "../../reports/collections.js";
import type { Input, Output } from "../command.js";

export async function run({ open, options, note }: Input): Promise<Output> {
  const { collection: named } = options as { readonly collection?: string };
  const { engine, namespace } = await open();
  const { collections } = await engine.status({ namespace });
  const { collection } = named === undefined ? onlyCollection(collections) : collectionNamed(named, collections);
  const file = await toLearnedFile(engine, namespace, collection);
  note(`${file.memories.length} memories of collection ${file.collection}, learner ${file.learner}`);
  return { data: file, text: () => JSON.stringify(file) };
}
