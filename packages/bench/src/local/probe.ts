// Fills one search with a corpus, opens it and asks it, in a process of its own; prints what that took.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { median } from "@qavr/lab";
import { used } from "../report/used-memory.js";
import { CONTENDERS, type Filled, type Input } from "./contenders.js";
import type { Corpus } from "./corpus.js";

/** What to measure. */
export interface Probe {
  readonly contender: string;
  /** Holds corpus.json and vectors.bin, and gets the contender's files. */
  readonly folder: string;
  readonly step: "fill" | "open";
}

/** One search measured on one corpus. */
export interface Probed {
  /** Time to fill or open it, to the answer of the first search, ms. */
  readonly ready: number;
  /** Growth of the process's memory by the search, bytes. */
  readonly memory: number;
  /** Median of the processor's time for a search, ms: other work on the machine adds nothing to it. */
  readonly p50: number;
  /** Share of requests with a text of their need among the first ten. */
  readonly hits: number;
}

export async function probe({ contender: name, folder, step }: Probe): Promise<Probed> {
  const contender = CONTENDERS.find((one) => one.name === name);
  if (!contender) throw new Error(`No contender is named ${name}.`);
  const corpus = JSON.parse(await readFile(join(folder, "corpus.json"), "utf8")) as Omit<Corpus, "vectors">;
  const { texts, needs, requests, dims } = corpus;
  const bytes = await readFile(join(folder, "vectors.bin"));
  const vectors = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const asked = requests.map(({ text }) => contender.asked?.(text) ?? text);
  const places = new Map([...texts, ...asked].map((text, place) => [text, place]));
  const vector = (text: string): number[] => {
    const place = places.get(text) as number;
    return Array.from(vectors.subarray(place * dims, (place + 1) * dims));
  };
  const input: Input = { texts, vector, folder };
  const before = used();
  const started = performance.now();
  const filled: Filled = await (step === "open" && contender.open ? contender.open(input) : contender.fill(input));
  await filled.search(asked[0] as string);
  const ready = performance.now() - started;
  // The first half of the requests warms the process up: its code is compiled and its caches are filled.
  const half = asked.length / 2;
  for (const text of asked.slice(0, half)) await filled.search(text);
  const times: number[] = [];
  let hits = 0;
  for (const [i, text] of asked.slice(half).entries()) {
    const start = process.cpuUsage();
    const found = await filled.search(text);
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1_000);
    if (found.some((place) => needs[place] === requests[half + i]?.need)) hits++;
  }
  return {
    ready,
    memory: used() - before,
    p50: median(times),
    hits: hits / times.length,
  };
}

if (process.argv[2]?.startsWith("{")) {
  const result = await probe(JSON.parse(process.argv[2]) as Probe);
  process.stdout.write(JSON.stringify(result), () => process.exit(0));
}
