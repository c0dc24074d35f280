import { spawn } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text as textOfStream } from "node:stream/consumers";
import { type Random, seededRandom } from "@qavr/lab";
import { localMemories } from "@qavr/local";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { outputUntilKilled } from "./interrupted-process.js";
import { after, type ExpectedMemory, embedText, idOf } from "./memory-steps.js";
import { fixture, inFolder } from "./workspace.js";

const KILLS = { quick: 12, full: 1_000 } as const;
/** Several files, so that some kills meet the creation of the file. */
const KILLS_PER_FILE = 10;
const TOGETHER = { quick: 25, full: 1_000 } as const;
const SEARCHES = { quick: 500, full: 20_000 } as const;
/** The longest search may take this many times as long as a plain one. */
const LONGEST = 20;

interface Tally {
  kills: number;
  acknowledged: number;
  /** Memories that are not as the acknowledged steps left them. */
  lost: number;
  /** Files whose full-text index or vectors do not belong to their memories. */
  broken: number;
}

/** Lets a process change a collection from step `first` on, and kills it. Returns the steps that it started and had acknowledged. */
async function writeUntilKilled(
  path: string,
  first: number,
  delay: number,
  early: boolean,
  mode: string,
): Promise<{ readonly started: number; readonly acknowledged: number }> {
  const command = [process.execPath, fixture("write-memories.mjs"), path, String(first), mode];
  const output = await outputUntilKilled({ command, delay, from: early ? undefined : "done " });
  const last = (word: string): number =>
    Number([...output.matchAll(new RegExp(`^${word} (\\d+)\\n`, "gm"))].at(-1)?.[1] ?? first - 1);
  return { started: last("start"), acknowledged: last("done") };
}

const isSame = (found: ExpectedMemory, expected: ExpectedMemory): boolean =>
  found?.text === expected?.text && found?.archived === expected?.archived;

/** True where the full-text index has exactly the memories that are not archived, its words are counted, and each memory has one vector. */
function isWhole(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true });
  const none = (sql: string): boolean => db.prepare(sql).get() === undefined;
  const ids = "SELECT n FROM record";
  const indexed = "SELECT id / 4096 AS n, id % 4096 AS words FROM lexicon_docsize";
  const whole =
    none(`SELECT n FROM (${indexed}) EXCEPT ${ids} WHERE archived_at IS NULL`) &&
    none(`${ids} WHERE archived_at IS NULL EXCEPT SELECT n FROM (${indexed})`) &&
    none(`SELECT texts, words FROM scope EXCEPT SELECT count(*), total(words) FROM (${indexed})`) &&
    none(`SELECT record FROM vector EXCEPT ${ids}`) &&
    none(`${ids} EXCEPT SELECT record FROM vector`) &&
    db.prepare("PRAGMA integrity_check").get()?.integrity_check === "ok";
  db.close();
  return whole;
}

/** Kills processes that change one collection, one after the other, and compares it with what was acknowledged after each. */
async function killRepeatedly(path: string, kills: number, random: Random, tally: Tally, mode = ""): Promise<void> {
  const expected = new Map<string, ExpectedMemory>();
  let next = 0;
  for (let kill = 0; kill < kills; kill++) {
    const early = kill === 0 || random() < 0.1;
    const delay = early ? 30 + 120 * random() : 25 * random();
    const { started, acknowledged } = await writeUntilKilled(path, next, delay, early && mode === "", mode);
    tally.kills++;
    tally.acknowledged += acknowledged - next + 1;
    for (let n = next; n <= acknowledged; n++) expected.set(idOf(n), after(n, expected.get(idOf(n))));
    const memories = localMemories({ path, embed: async (texts) => texts.map(embedText) });
    const read = async (id: string): Promise<ExpectedMemory> => {
      const found = await memories.get(id);
      return found && { text: found.text, archived: found.archivedAt !== undefined };
    };
    // The step that was under way may have happened or not.
    if (started > acknowledged) {
      const id = idOf(started);
      const possible = after(started, expected.get(id));
      if (isSame(await read(id), possible)) expected.set(id, possible);
    }
    for (const [id, memory] of expected) {
      const found = await read(id);
      if (!isSame(found, memory)) tally.lost++;
      expected.set(id, found);
      if (!memory) continue;
      const hits = await memories.search({ text: memory.text, limit: 1 });
      if ((hits[0]?.id === id) === memory.archived) tally.lost++;
    }
    await memories.close();
    if (!isWhole(path)) tally.broken++;
    next = Math.max(started, acknowledged) + 1;
  }
}

async function killWriters(kills: number): Promise<Tally> {
  const tally: Tally = { kills: 0, acknowledged: 0, lost: 0, broken: 0 };
  await inFolder(async (folder) => {
    for (let file = 0; file * KILLS_PER_FILE < kills; file++) {
      const left = Math.min(KILLS_PER_FILE, kills - file * KILLS_PER_FILE);
      await killRepeatedly(join(folder, `${file}.db`), left, seededRandom(file), tally);
    }
  });
  return tally;
}

/** Kills processes that acknowledge before they write, until one is seen to have lost something. */
async function killEarlyAcknowledgers(limit: number): Promise<Tally> {
  const tally: Tally = { kills: 0, acknowledged: 0, lost: 0, broken: 0 };
  const random = seededRandom(1);
  while (tally.lost === 0 && tally.kills < limit) {
    await inFolder((folder) => killRepeatedly(join(folder, "memories.db"), 1, random, tally, "early"));
  }
  return tally;
}

/** Four processes add memories to one file and search for each at once. */
async function writeTogether(count: number): Promise<CheckResult> {
  return inFolder(async (folder) => {
    const path = join(folder, "memories.db");
    const found = await Promise.all(
      ["1", "2", "3", "4"].map(async (process_) => {
        const given = [fixture("write-memories.mjs"), path, process_, "together", String(count)];
        const child = spawn(process.execPath, given, { stdio: ["ignore", "pipe", "inherit"] });
        return Number(await textOfStream(child.stdout));
      }),
    );
    const memories = localMemories({ path });
    const kept = await memories.size();
    await memories.close();
    const all = 4 * count;
    const sum = found.reduce((a, b) => a + b, 0);
    return {
      promise: "R26",
      what: "4 processes that add memories to one file and search for each (@qavr/local)",
      tried: `${all} memories`,
      seen: `${kept} kept, ${sum} found at once${isWhole(path) ? "" : ", index and memories differ"}`,
      held: kept === all && sum === all && isWhole(path),
    };
  });
}

/** Random requests with the operators of full-text search, NULs, halves of characters and very long ones. */
async function fuzz(count: number, isTimed: boolean): Promise<CheckResult> {
  const random = seededRandom(5);
  const memories = localMemories({ path: ":memory:" });
  await memories.add(
    Array.from({ length: 2_000 }, (_, i) => `note ${i} about a deploy of service ${i % 97}: fix 日本語 ${i % 13}`),
  );
  const pieces = [
    ...'"*^:(){}[]-+~%_;/\\ \0\n\t🦆日本語abc',
    "\ud800",
    " AND ",
    " OR ",
    " NOT ",
    " NEAR(",
    "deploy ",
    "service 7 ",
    "scope : ",
  ];
  const piece = (): string => pieces[Math.floor(random() * pieces.length)] as string;
  let threw = 0;
  const timeOf = async (text: string): Promise<number> => {
    const started = performance.now();
    await memories.search({ text, limit: 5 }).catch(() => threw++);
    return performance.now() - started;
  };
  const plain: number[] = [];
  for (let i = 0; i < 200; i++) plain.push(await timeOf(`how to fix the deploy of service ${i % 97}`));
  const usual = plain.sort((a, b) => a - b)[100] as number;
  let slowest = { text: "", time: 0 };
  for (let i = 0; i < count; i++) {
    const length = i % 100 === 0 ? 20_000 : 1 + Math.floor(random() * 40);
    const text = Array.from({ length }, piece).join("");
    const time = await timeOf(text);
    if (time > slowest.time) slowest = { text, time };
  }
  // A collection of garbage may meet any search: the slowest request is timed again.
  const times = [];
  for (let i = 0; i < 5; i++) times.push(await timeOf(slowest.text));
  const longest = Math.min(slowest.time, ...times) / usual;
  await memories.close();
  return {
    promise: "R26",
    what: "requests of operators, NULs, halves of characters, up to 20,000 pieces (@qavr/local)",
    tried: `${count.toLocaleString("en")} searches`,
    seen: `${threw} threw${isTimed ? `, the longest took ${longest.toFixed(1)} times as long as a plain one` : ""}`,
    held: threw === 0 && (!isTimed || longest <= LONGEST),
  };
}

export const memoryKills: Harness = {
  name: "own memories",
  async run(size): Promise<readonly CheckResult[]> {
    const tally = await killWriters(KILLS[size]);
    const mutant = await killEarlyAcknowledgers(100);
    return [
      {
        promise: "R26",
        what: "SIGKILL to processes that add, update, archive and delete memories (@qavr/local)",
        tried: `${tally.kills} kills, ${tally.acknowledged} acknowledged changes`,
        seen: `${tally.lost} lost, ${tally.broken} files whose indexes and memories differ`,
        held: tally.lost === 0 && tally.broken === 0 && tally.acknowledged > tally.kills,
      },
      mutantResult({
        what: "acknowledges memories before it writes them",
        tried: `${mutant.kills} kills`,
        seen: `${mutant.lost} lost changes seen`,
        held: mutant.lost > 0,
      }),
      await writeTogether(TOGETHER[size]),
      await fuzz(SEARCHES[size], size === "full"),
    ];
  },
};
