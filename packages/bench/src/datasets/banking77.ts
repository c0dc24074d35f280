import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { QavrError } from "@qavr/core";
import type { Dataset, LabelledText, Need } from "./dataset.js";

const FOLDER = new URL("../../data/banking77/", import.meta.url);

/** As listed in the folder's README. */
const SHA256 = {
  "needs.jsonl": "65d21fecef911005e73958ac226b2a91f1711cb74cc1d26c19afd9ad452b54a0",
  "queries.jsonl": "183f43393a37f9434e9e14651a61468ffb38099b876a04f5b1e6e4ad48726f1a",
} as const;

/**
 * banking77: 13,023 questions of bank customers with 77 close, confusable needs (PolyAI, CC BY 4.0; see its README).
 *
 * @param folder where the two files are. @default the copy in this package
 * @throws INVALID_STATE when a file is not byte for byte the one that results are published for.
 */
export async function loadBanking77(folder: URL = FOLDER): Promise<Dataset> {
  const needRows = await readRows<{ need: string; text: string }>(folder, "needs.jsonl");
  const textRows = await readRows<{ need: string; text: string }>(folder, "queries.jsonl");
  const needs = needRows.map((row): Need => ({ name: row.need, text: row.text }));
  const places = new Map(needs.map((need, place) => [need.name, place]));
  const texts = textRows.map((row): LabelledText => ({ text: row.text, need: places.get(row.need) as number }));
  return { name: "banking77", needs, texts };
}

async function readRows<Row>(folder: URL, name: keyof typeof SHA256): Promise<Row[]> {
  const bytes = await readFile(new URL(name, folder));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== SHA256[name]) {
    throw new QavrError(
      "INVALID_STATE",
      `The dataset file ${name} was changed. Restore it: its sha256 must be ${SHA256[name]}.`,
      {
        details: { file: name, expected: SHA256[name], received: sha256 },
      },
    );
  }
  return bytes
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
}
