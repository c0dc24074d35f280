import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { QavrError } from "@qavr/core";
import { DATASETS, type DatasetName, type DatasetPlan } from "./catalogue.js";
import type { Dataset, LabelledText, Need } from "./dataset.js";

/** A line of `queries.jsonl`: one need, or several. */
type QueryRow = { readonly text: string } & ({ readonly need: string } | { readonly needs: readonly string[] });

/**
 * Loads a dataset of {@link DATASETS}.
 *
 * @param folder where its two files are. @default the copy in this package
 * @throws INVALID_STATE when a file is not byte for byte the one that results are published for.
 */
export async function loadDataset(name: DatasetName, folder: URL = folderOf(name)): Promise<Dataset> {
  const { sha256 } = DATASETS[name];
  const needRows = await readRows<{ need: string; text: string }>(folder, "needs.jsonl", sha256);
  const queryRows = await readRows<QueryRow>(folder, "queries.jsonl", sha256);
  const needs = needRows.map((row): Need => ({ name: row.need, text: row.text }));
  const places = new Map(needs.map((need, place) => [need.name, place]));
  const texts = queryRows.map((row): LabelledText => {
    const names = "needs" in row ? row.needs : [row.need];
    return { text: row.text, needs: [...new Set(names)].map((need) => places.get(need) as number) };
  });
  return { name, needs, texts };
}

function folderOf(name: DatasetName): URL {
  return new URL(`../../data/${name}/`, import.meta.url);
}

async function readRows<Row>(
  folder: URL,
  file: keyof DatasetPlan["sha256"],
  expected: DatasetPlan["sha256"],
): Promise<Row[]> {
  const bytes = await readFile(new URL(file, folder));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== expected[file]) {
    throw new QavrError(
      "INVALID_STATE",
      `The dataset file ${file} was changed. Restore it: its sha256 must be ${expected[file]}.`,
      { details: { file, expected: expected[file], received: sha256 } },
    );
  }
  return bytes
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
}
