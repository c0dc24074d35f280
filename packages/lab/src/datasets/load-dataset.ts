import { DATASETS, type DatasetName } from "./catalogue.js";
import { checkedRows } from "./checked-rows.js";
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
  const rows = <Row>(file: keyof typeof sha256): Promise<Row[]> => checkedRows(new URL(file, folder), sha256[file]);
  const needRows = await rows<{ need: string; text: string }>("needs.jsonl");
  const queryRows = await rows<QueryRow>("queries.jsonl");
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
