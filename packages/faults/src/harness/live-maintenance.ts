import { type ChildProcess, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { createEngine, type Engine, type Store } from "@qavr/core";
import { compact, replay, revoke, verify } from "@qavr/core/maintenance";
import { median } from "@qavr/lab";
import { startServer } from "@qavr/postgres-server";
import { type CheckResult, type Harness, mutantResult, type Size } from "./check.js";
import {
  AGO,
  type Ledgers,
  type Original,
  type Place,
  postgresLedgers,
  sqliteLedgers,
  TOGETHER,
} from "./copied-ledgers.js";
import { losingTheTail, neverCatchingUp } from "./mutant-stores.js";
import { onProcessors, type Processors, pin, processorsApart } from "./processors.js";
import { REVOKED } from "./steady-runs.js";
import { fixture, inFolder } from "./workspace.js";

const OUTCOMES = { quick: 100, full: 4_000 } as const;
const LONG = 100_000;
/** Times that maintenance is measured, each on fresh copies: one time says little where six processes share a machine. */
const ROUNDS = { quick: 1, full: 3 } as const;
const WRITERS = 2;
/** With a processor of its own, maintenance takes at most this many times its quiet time. Small ledgers say nothing about time. */
const MOST_TIMES = { quick: Number.POSITIVE_INFINITY, full: 1.5 } as const;
/** How long the writers write alone, for comparison, ms. */
const ALONE = { quick: 200, full: 5_000 } as const;
/** Work that takes longer than this many times its quiet time, and longer than a minute, is given up. */
const TIMEOUT_FACTOR = 30;
const LEAST_TIMEOUT = 60_000;
/** Timeout of the mutant that never finishes, ms. */
const MUTANT_TIMEOUT = { quick: 1_000, full: 10_000 } as const;
/** Replays with a fault. */
const MUTATED = 20;
const NAMESPACE = "default";

/** Result of maintenance. */
interface Report {
  /** Its first wrong fact; undefined for none. */
  readonly problem?: string | undefined;
  /** Outcomes that do not count any more. */
  readonly revoked?: number;
}

type Work = (engine: Engine, outcomes: number) => Promise<Report>;

const unless = (isRight: boolean, problem: string): Report => (isRight ? {} : { problem });

const WORK: Readonly<Record<string, Work>> = {
  verify: async (engine) => unless((await verify(engine, { namespace: NAMESPACE })).ok, "does not verify"),
  replay: async (engine) =>
    unless((await replay(engine, { write: true })).identical, "states did not follow from the ledger"),
  revoke: async (engine, outcomes) => {
    const { outcomes: revoked } = await revoke(engine, { namespace: NAMESPACE, source: REVOKED });
    return { ...unless(revoked >= outcomes / 5, `${revoked} outcomes revoked`), revoked };
  },
  compact: async (engine, outcomes) => {
    const { dropped } = await compact(engine, { namespace: NAMESPACE });
    return unless(dropped === 2 * outcomes, `${dropped} entries dropped`);
  },
};

/** One piece of maintenance; times are Unix ms. */
interface Done extends Report {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Length of the ledger at its end: writers make it longer. */
  readonly entries: number;
}

const now = (): number => performance.timeOrigin + performance.now();

/** Does some work, one piece after the other, until a piece goes wrong or takes too long. */
async function maintain(
  store: Store,
  outcomes: number,
  work: Readonly<Record<string, Work>>,
  timeoutOf: (name: string) => number,
): Promise<readonly Done[]> {
  const engine = createEngine({ store, writeTimeout: 120_000 });
  const done: Done[] = [];
  for (const [name, run] of Object.entries(work)) {
    const from = now();
    const timeout = timeoutOf(name);
    const over = new AbortController();
    const working = run(engine, outcomes).catch((error: unknown): Report => ({ problem: String(error) }));
    const late: Report = { problem: `not finished after ${Math.round(timeout / 1_000)} s` };
    const lateness = pause(timeout, late, { signal: over.signal }).catch(() => late);
    const report = await Promise.race([working, lateness]);
    over.abort();
    const to = now();
    done.push({ name, from, to, entries: await store.head(NAMESPACE), ...report });
    if (report.problem === undefined) continue;
    // Late work goes on until its next read is refused.
    await store.close();
    await working;
    break;
  }
  await engine.close();
  return done;
}

/** Answers that writers have got. */
interface Written {
  readonly began: readonly number[];
  readonly spent: readonly number[];
  readonly places: readonly number[];
  readonly refused: readonly string[];
}

/** Two processes that write until `stop` is called. */
class ForeignWriters {
  readonly #place: Place;
  readonly #children: readonly ChildProcess[];
  readonly #outputs: readonly Promise<string>[];

  constructor(place: Place) {
    this.#place = place;
    this.#children = Array.from({ length: WRITERS }, (_, writer) =>
      spawn(process.execPath, [fixture("write-without-pause.mjs"), place.location, `w${writer}`], {
        stdio: ["pipe", "pipe", "inherit"],
      }),
    );
    this.#outputs = this.#children.map(({ stdout }) => text(stdout as NonNullable<typeof stdout>));
  }

  /** Resolves when each has written. @param processors where they and their sessions on a server are to run */
  async writing(processors?: string): Promise<void> {
    await Promise.all(
      this.#children.map((child) => new Promise((resolve) => child.stdout?.once("data", resolve).once("end", resolve))),
    );
    if (processors === undefined) return;
    for (const { pid } of this.#children) pin(pid as number, processors);
    for (const pid of await this.#place.sessions()) pin(pid, processors);
  }

  async stop(): Promise<Written> {
    for (const { stdin } of this.#children) stdin?.end();
    const outputs = (await Promise.all(this.#outputs)).map(
      (said) => JSON.parse(said.replace("writing\n", "")) as Written,
    );
    return {
      began: outputs.flatMap(({ began }) => began),
      spent: outputs.flatMap(({ spent }) => spent),
      places: outputs.flatMap(({ places }) => places),
      refused: outputs.flatMap(({ refused }) => refused),
    };
  }
}

/** Facts about a ledger after maintenance beside writers that are wrong. */
async function wrongFacts(
  { open }: Place,
  outcomes: number,
  { places, refused }: Written,
  done: readonly Done[],
): Promise<readonly string[]> {
  const store = open();
  const engine = createEngine({ store });
  const wrong = refused.length === 0 ? [] : [`${refused.length} outcomes refused: ${[...new Set(refused)].join(", ")}`];
  const found = new Set<number>();
  for (let last = 0; ; ) {
    const page = await store.readEntries(NAMESPACE, { after: last, limit: 10_000 });
    for (const { seq, type, at } of page) if (type === "outcome" && at > Date.now() - AGO / 2) found.add(seq);
    if (page.length === 0) break;
    last = page.at(-1)?.seq ?? last;
  }
  const lost = places.filter((seq) => !found.has(seq)).length;
  if (lost > 0) wrong.push(`${lost} outcomes lost`);
  if (new Set(places).size < places.length || found.size !== places.length)
    wrong.push(`${found.size} outcomes of ${places.length} in the ledger`);
  const { user } = (await engine.status({ namespace: NAMESPACE })).outcomes;
  const expected = outcomes + places.length - done.reduce((sum, { revoked = 0 }) => sum + revoked, 0);
  if (user !== expected) wrong.push(`${user} outcomes counted of ${expected}`);
  if (!(await verify(engine)).ok) wrong.push("the ledger does not verify");
  await engine.close();
  return wrong;
}

/** 99th percentile of the calls that began in a span, ms; 0 for none. */
function p99({ began, spent }: Written, from: number, to: number): number {
  const within = spent
    .filter((_, i) => (began[i] as number) >= from && (began[i] as number) <= to)
    .sort((a, b) => a - b);
  return within[Math.min(within.length - 1, Math.floor(0.99 * within.length))] ?? 0;
}

/** One round: maintenance of a quiet ledger, and of one beside writers. */
interface Round {
  readonly quiet: readonly Done[];
  readonly live: readonly Done[];
  /** p99 of writes without maintenance, and during each piece of it. ms */
  readonly alone: number;
  readonly delays: readonly number[];
  readonly places: number;
  readonly wrong: readonly string[];
}

async function inRound(
  filled: Original,
  name: string,
  outcomes: number,
  { alone, processors }: Manner,
): Promise<Round> {
  const quietly = await filled.copy(`quiet_${name}`);
  const quiet = await maintain(quietly.open(), outcomes, WORK, () => LEAST_TIMEOUT * TIMEOUT_FACTOR);
  const usual = ({ from, to }: Done): number => TIMEOUT_FACTOR * (to - from);
  const timeouts = new Map(quiet.map((one) => [one.name, Math.max(LEAST_TIMEOUT, usual(one))]));
  const place = await filled.copy(`live_${name}`);
  const writers = new ForeignWriters(place);
  await writers.writing(processors?.others);
  const started = now();
  await pause(alone);
  const meanwhile = now();
  const live = await maintain(place.open(), outcomes, WORK, (work) => timeouts.get(work) ?? LEAST_TIMEOUT);
  const written = await writers.stop();
  return {
    quiet,
    live,
    alone: p99(written, started, meanwhile),
    delays: live.map(({ from, to }) => p99(written, from, to)),
    places: written.places.length,
    wrong: [
      ...[...quiet, ...live].flatMap(({ name: of, problem }) => (problem === undefined ? [] : [`${of}: ${problem}`])),
      ...(await wrongFacts(place, outcomes, written, live)),
    ],
  };
}

/** How maintenance is measured. */
interface Manner {
  readonly rounds: number;
  /** How long the writers write alone, ms. */
  readonly alone: number;
  /** Maintenance, with its sessions on a server, has one of its own. Undefined: all processes share all of them. */
  readonly processors: Processors | undefined;
  /** Most times its quiet time that maintenance may take. */
  readonly most: number;
}

/** Maintenance of a ledger of so many outcomes, quiet and beside writers: medians over rounds. */
async function beside(kind: Ledgers, outcomes: number, manner: Manner): Promise<CheckResult> {
  const filled = await kind.fill(outcomes);
  const rounds: Round[] = [];
  for (let round = 1; round <= manner.rounds; round++) rounds.push(await inRound(filled, `${round}`, outcomes, manner));
  const wrong = rounds.flatMap((round) => round.wrong);
  const written = rounds.reduce((sum, { places }) => sum + places, 0);
  const perEntry = ({ from, to, entries }: Done): number => (to - from) / entries;
  const said = Object.keys(WORK).map((_, i) => {
    const all = rounds.filter(({ quiet, live }) => quiet[i] && live[i]);
    return {
      slower:
        median(all.map(({ live }) => perEntry(live[i] as Done))) /
        median(all.map(({ quiet }) => perEntry(quiet[i] as Done))),
      delay: median(all.map(({ delays }) => delays[i] as number)),
    };
  });
  const alone = median(rounds.map((round) => round.alone));
  const slower = said.map((one) => one.slower.toFixed(1)).join("/");
  const delays = said.map(({ delay }) => delay.toFixed(0)).join("/");
  const asLong = said.map(({ delay }) => (delay / alone).toFixed(1)).join("/");
  const asFast = ["verify", "replay"].map((name) => {
    const quietly = rounds.flatMap(({ quiet }) => quiet.filter((one) => one.name === name));
    return (filled.writing / median(quietly.map(({ from, to }) => to - from))).toFixed(1);
  });
  const done = rounds.every(({ live }) => live.length === Object.keys(WORK).length);
  return {
    promise: "R28",
    what: `verify, replay, revoke and compact while two processes write without a pause, ${manner.processors ? "with a processor of its own" : "on shared processors"}; times per entry and p99 of writes against quiet ones (${kind.name})`,
    tried: `${outcomes.toLocaleString("en")} outcomes, ${written.toLocaleString("en")} more meanwhile${manner.rounds > 1 ? `; medians of ${manner.rounds} rounds` : ""}`,
    seen: `${slower} times as long; writes' p99 ${delays} ms; ${asLong} × that without maintenance; quiet verify and replay ${asFast.join(" and ")} × as fast as the ledger was written with ${TOGETHER} runs at a time; ${wrong.length === 0 ? "0 lost, none counted otherwise than once" : wrong.join("; ")}`,
    held: wrong.length === 0 && done && written > 0 && said.every(({ slower: times }) => times <= manner.most),
  };
}

/** Replays beside writers, with a fault: what is found. */
async function mutated(
  kind: Ledgers,
  outcomes: number,
  timeout: number,
  fault: (store: Store) => Store,
): Promise<string> {
  const filled = await kind.fill(outcomes);
  const live = await filled.copy("live");
  const writers = new ForeignWriters(live);
  await writers.writing();
  const replays = Array.from({ length: MUTATED }, (_, i) => [`replay ${i + 1}`, WORK.replay as Work]);
  const done = await maintain(fault(live.open()), outcomes, Object.fromEntries(replays), () => timeout);
  const written = await writers.stop();
  const [first] = done.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]));
  return [...(first === undefined ? [] : [first]), ...(await wrongFacts(live, outcomes, written, done))].join("; ");
}

export const liveMaintenance: Harness = {
  name: "live maintenance",
  async run(size, isLong = false): Promise<readonly CheckResult[]> {
    const apart = processorsApart();
    return [
      ...(await measured(size, isLong)),
      ...(apart ? await onProcessors(apart.own, () => measured(size, isLong, apart)) : []),
      ...(await mutants(size)),
    ];
  },
};

/** Both stores and all sizes. The server starts here, so that it runs on this process's processors. */
async function measured(size: Size, isLong: boolean, processors?: Processors): Promise<readonly CheckResult[]> {
  const most = processors ? MOST_TIMES[size] : Number.POSITIVE_INFINITY;
  const manner = { rounds: ROUNDS[size], alone: ALONE[size], processors, most };
  await using server = size === "full" ? await startServer() : undefined;
  return await inFolder(async (folder) => {
    const results: CheckResult[] = [];
    const kinds = [sqliteLedgers(folder), ...(server ? [postgresLedgers(server)] : [])];
    for (const outcomes of [OUTCOMES[size], ...(isLong ? [LONG] : [])]) {
      for (const kind of kinds) results.push(await beside(kind, outcomes, manner));
    }
    return results;
  });
}

async function mutants(size: Size): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  const faults = {
    "loses what is written during its work": losingTheTail,
    "never catches up with the writers": neverCatchingUp,
  };
  for (const [what, fault] of Object.entries(faults)) {
    await inFolder(async (folder) => {
      const found = await mutated(sqliteLedgers(folder), OUTCOMES.quick, MUTANT_TIMEOUT[size], fault);
      results.push(
        mutantResult({
          what: `maintenance that ${what}`,
          tried: `${OUTCOMES.quick} outcomes, two writers`,
          seen: found || "nothing",
          held: found !== "",
        }),
      );
    });
  }
  return results;
}
