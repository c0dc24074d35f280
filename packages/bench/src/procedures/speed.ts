import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEngine, memoryStore } from "@qavr/core";
import { median } from "@qavr/lab";
import { openProcedures } from "@qavr/markdown";
import { buildCorpus, fileOf, inFolder } from "./corpus.js";

/** Times in ms. */
export interface SpeedResult {
  readonly procedures: number;
  /** One query of a bare FTS5 table with the same texts. */
  readonly query: number;
  /** From opening a folder that was never indexed to the first list. */
  readonly cold: number;
  /** A search of the collection, nothing changed. */
  readonly match: number;
  /** The next search after one file was written. */
  readonly edit: number;
}

const FILES = 1_000;
const REPEATED = 50;

export async function measureSpeed(): Promise<SpeedResult> {
  const { procedures: known, requests } = await buildCorpus(1);
  const texts = Array.from({ length: FILES }, (_, i) => {
    const one = known[i % known.length] as (typeof known)[number];
    const examples = requests.slice(20 * i, 20 * i + 20).map(({ text }) => text);
    return fileOf({ ...one, examples });
  });
  const asked = requests.slice(-REPEATED).map(({ text }) => text);
  const files = Object.fromEntries(texts.map((text, i) => [`procedures/p${i}.md`, text]));
  return inFolder(files, async (root) => {
    const db = new DatabaseSync(":memory:");
    db.exec("CREATE VIRTUAL TABLE texts USING fts5(words)");
    const add = db.prepare("INSERT INTO texts VALUES (?)");
    for (const text of texts) add.run(text);
    const find = db.prepare("SELECT rowid FROM texts WHERE words MATCH ? ORDER BY bm25(texts) LIMIT 3");
    const query = medianOf(asked, async (text) => {
      const words = text.match(/[a-z0-9]+/g) ?? ["none"];
      find.all(words.map((word) => `"${word}"`).join(" OR "));
    });
    const engine = createEngine({ store: memoryStore() });
    const started = performance.now();
    const procedures = openProcedures(root, { engine });
    await procedures.list();
    const cold = performance.now() - started;
    const search = (text: string): Promise<unknown> => procedures.collection.search({ text, limit: 3 });
    const match = await medianOf(asked, search);
    const times: number[] = [];
    for (const [i, text] of asked.entries()) {
      await writeFile(join(root, `procedures/p${i}.md`), `${texts[i]}- edited ${i}\n`);
      const at = performance.now();
      await search(text);
      times.push(performance.now() - at);
    }
    await procedures.close();
    await engine.close();
    db.close();
    return { procedures: FILES, query: await query, cold, match, edit: median(times) };
  });
}

async function medianOf(texts: readonly string[], work: (text: string) => Promise<unknown>): Promise<number> {
  for (const text of texts) await work(text);
  const times: number[] = [];
  for (const text of texts) {
    const at = performance.now();
    await work(text);
    times.push(performance.now() - at);
  }
  return median(times);
}
