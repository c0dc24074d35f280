import { readFile } from "node:fs/promises";

/** Written by `pnpm bench real --full`. */
const RESULTS = new URL("../../../docs/benchmarks/real.json", import.meta.url);

/** Held-out success on sets whose outcomes really happened, measured before: the mean of all columns and seeds. */
export interface RealOutcomes {
  readonly columns: number;
  readonly similarity: number;
  readonly qavr: number;
}

/** @returns undefined where the results are not there */
export async function realOutcomes(file: URL = RESULTS): Promise<RealOutcomes | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const { results } = JSON.parse(text) as {
    readonly results: readonly {
      readonly column: string;
      readonly name: string;
      readonly heldOut: readonly number[];
    }[];
  };
  const mean = (name: string): number => {
    const values = results.filter((result) => result.name === name).flatMap(({ heldOut }) => heldOut);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const columns = new Set(results.map(({ column }) => column)).size;
  return { columns, similarity: mean("similarity"), qavr: mean("oar") };
}
