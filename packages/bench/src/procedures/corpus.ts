import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadDataset, seededRandom, shuffle } from "@qavr/lab";

/** A request, and the name of the procedure that it needs. */
export interface Request {
  readonly text: string;
  readonly need: string;
}

/** The 150 needs of clinc150: a name, four requests of it for its procedure, and all others in random order. */
export interface Corpus {
  readonly procedures: readonly {
    readonly name: string;
    readonly title: string;
    readonly examples: readonly string[];
  }[];
  readonly requests: readonly Request[];
}

const EXAMPLES = 4;

export async function buildCorpus(seed: number): Promise<Corpus> {
  const { needs, texts } = await loadDataset("clinc150");
  const random = seededRandom(seed);
  const byNeed = needs.map(({ name, text }) => ({ name, title: text, examples: [] as string[] }));
  const requests: Request[] = [];
  for (const { text, needs: own } of shuffle([...texts], random)) {
    const procedure = byNeed[own[0] as number];
    if (!procedure) continue;
    if (procedure.examples.length < EXAMPLES) procedure.examples.push(text);
    else requests.push({ text, need: procedure.name });
  }
  return { procedures: byNeed, requests };
}

/** The file of a procedure: its name as description, and its examples. */
export function fileOf({ title, examples }: Corpus["procedures"][number]): string {
  return `---\ndescription: ${JSON.stringify(title)}\n---\n# Steps\n\nAnswer requests such as:\n\n${examples.map((text) => `- ${text}\n`).join("")}`;
}

/** Runs `work` with a folder of these files, which is gone afterwards. */
export async function inFolder<Result>(
  files: Readonly<Record<string, string>>,
  work: (root: string) => Promise<Result>,
): Promise<Result> {
  await using root = await mkdtempDisposable(join(tmpdir(), "qavr-bench-procedures-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root.path, dirname(path)), { recursive: true });
    await writeFile(join(root.path, path), text);
  }
  return await work(root.path);
}
