import type { Engine } from "@qavr/core";
import { exportState } from "@qavr/core/maintenance";

/** Everything learned in a namespace, exactly, as text: equal knowledge gives equal text, in any order. */
export async function learnedText(engine: Engine, namespace?: string): Promise<string> {
  const where = namespace === undefined ? {} : { namespace };
  const { shared, memories } = await exportState(engine, where);
  const { taught } = await engine.status(where);
  const plain = (_: string, value: unknown) => (ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value);
  return JSON.stringify([shared, [...memories].sort((a, b) => (a.id < b.id ? -1 : 1)), taught], plain);
}
