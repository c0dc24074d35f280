import { toLearnedFile } from "../../learned-file.js";
import type { Input, Output } from "../command.js";

export async function run({ open, options, note }: Input): Promise<Output> {
  const { engine, namespace } = await open();
  const file = await toLearnedFile(engine, namespace, options.collection as string);
  note(`${file.memories.length} memories of collection ${file.collection}, learner ${file.learner}`);
  return { data: file, text: () => JSON.stringify(file) };
}
