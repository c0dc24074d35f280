import type { Engine } from "@qavr/core";

/** What a namespace has learned, to the last bit, as text: in whatever order it came about, equal for equal knowledge. */
export async function learnedText(engine: Engine, namespace?: string): Promise<string> {
  const where = namespace === undefined ? {} : { namespace };
  const { shared, memories } = await engine.exportState(where);
  const { taught } = await engine.status(where);
  const plain = (_: string, value: unknown) => (ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value);
  return JSON.stringify([shared, [...memories].sort((a, b) => (a.id < b.id ? -1 : 1)), taught], plain);
}
