import { join } from "node:path";
import { createEngine, type Engine, memoryStore, QavrError, type Store } from "@qavr/core";
import { forget } from "@qavr/core/maintenance";
import { type Random, seededRandom, shuffle } from "@qavr/lab";
import { sqliteStore } from "@qavr/sqlite";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { learnedText } from "./learned-text.js";
import { ignoringCase } from "./mutant-stores.js";
import { inFolder } from "./workspace.js";

const OPERATIONS = { quick: 700, full: 100_000 } as const;
/** How many tenants act at the same time. */
const AT_ONCE = 25;
const NOW = 1_767_225_600_000;

/** Fifty legal names that a careless query confuses: prefixes, wildcards, control characters, quotes, look-alikes, property names. */
const NAMES: readonly string[] = [
  ...["a", "ab", "abc", "A", "a ", " a", "%", "_", "a%", "a_", "*", "[a]", "\\", "\0", "a\0", "a\0b", "\n", "\t"],
  ...["a:b", "a/b", "../a", "1:a", "'", '"', "'; drop table entry; --", "x') or '1'='1", "$1", "{}", "null", "true"],
  ...["0", "00", "1e3", "-0", "__proto__", "constructor", "é", "e\u0301", "\u0430", "\u0251", "ß", "ss", "\u0130"],
  ...["i\u0307", "👩‍👩‍👧", "👩", "\ufeffa", "a\u200b", "\u202ea", "n".repeat(512), `${"n".repeat(511)}m`],
];

/** One tenant's own view: it decides what to do from its own history, so that it does the same in company and alone. */
class Tenant {
  readonly name: string;
  readonly #random: Random;
  #runs = 0;

  constructor(place: number) {
    this.name = NAMES[place] as string;
    this.#random = seededRandom(place + 1);
  }

  /** Performs one action. Returns any data of another tenant that it saw. */
  async act(engine: Engine, foreign: string | undefined): Promise<string | undefined> {
    const draw = this.#random();
    const reward = this.#random() < 0.5;
    const namespace = this.name;
    if (draw < 0.75) return this.#run(engine, reward);
    if (draw < 0.8) {
      await forget(engine, { namespace, ids: [`m${Math.floor(40 * this.#random())}`] });
      return undefined;
    }
    if (draw < 0.9) {
      const { episodes, outcomes } = await engine.status({ namespace });
      if (outcomes.verified === this.#runs && episodes.recorded === this.#runs) return undefined;
      return `${JSON.stringify(namespace)} counts ${episodes.recorded} runs instead of ${this.#runs}`;
    }
    if (foreign === undefined) return undefined;
    const refused = await engine.report(foreign, { reward }, { namespace }).catch((error: unknown) => error);
    if (!QavrError.isInstance(refused, "UNKNOWN_EPISODE")) return `${JSON.stringify(namespace)} reported on ${foreign}`;
    return (await engine.explain(foreign, { namespace })) && `${JSON.stringify(namespace)} can read ${foreign}`;
  }

  /** An episode that this tenant has ended, by a name of its own. */
  get lastRun(): string | undefined {
    return this.#runs === 0 ? undefined : this.#alias(this.#runs);
  }

  async #run(engine: Engine, reward: boolean): Promise<undefined> {
    this.#runs += 1;
    const first = Math.floor(30 * this.#random());
    // All tenants name their memories alike.
    const candidates = Array.from({ length: 8 }, (_, i) => ({ id: `m${first + i}`, similarity: 0.9 - i / 20 }));
    const vector = Array.from({ length: 4 }, () => this.#random() - 0.5);
    const aliases = [this.#alias(this.#runs)];
    const { episode } = await engine.rank({ namespace: this.name, candidates, topK: 3, vector, aliases });
    await engine.end(episode, { reward, tier: "verified", source: "checker" });
  }

  #alias(run: number): string {
    return `${NAMES.indexOf(this.name)}:${run}`;
  }
}

/** Without control runs: these are drawn by the ids of episodes, which are others in company than alone. */
function engineOver(store: Store): Engine {
  let ids = 0;
  return createEngine({ store, clock: () => NOW, createId: () => `e${++ids}`, holdout: 0 });
}

/** Lets all tenants act in one ledger, some at the same time, and then each of them alone in one of its own. */
async function liveTogether(store: Store, operations: number): Promise<readonly string[]> {
  const seen: string[] = [];
  const acted = NAMES.map(() => 0);
  const tenants = NAMES.map((_, place) => new Tenant(place));
  const engine = engineOver(store);
  const random = seededRandom(0);
  for (let done = 0; done < operations; done += AT_ONCE) {
    const together = shuffle([...tenants.keys()], random).slice(0, AT_ONCE);
    const found = await Promise.all(
      together.map((place, i) => {
        acted[place] = (acted[place] as number) + 1;
        const other = tenants[together[(i + 1) % AT_ONCE] as number] as Tenant;
        return (tenants[place] as Tenant).act(engine, other.lastRun);
      }),
    );
    seen.push(...found.filter((one) => one !== undefined));
  }
  for (const [place, name] of NAMES.entries()) {
    const alone = engineOver(memoryStore());
    const tenant = new Tenant(place);
    for (let act = 0; act < (acted[place] as number); act++) await tenant.act(alone, undefined);
    if ((await learnedText(alone, name)) !== (await learnedText(engine, name)))
      seen.push(`${JSON.stringify(name)} learned otherwise`);
  }
  await engine.close();
  return seen;
}

export const tenants: Harness = {
  name: "tenants",
  async run(size): Promise<readonly CheckResult[]> {
    const operations = OPERATIONS[size];
    const inSqlite = await inFolder((folder) => liveTogether(sqliteStore(join(folder, "ledger.db")), operations));
    const mixed = await liveTogether(ignoringCase(memoryStore()), 1_000);
    return [
      {
        promise: "R20",
        what: `${NAMES.length} tenants with hostile names in one ledger, ${AT_ONCE} at a time (SQLite), then each alone`,
        tried: `${operations.toLocaleString("en")} operations`,
        seen: inSqlite.length === 0 ? "0 saw or learned anything of another's" : inSqlite.slice(0, 3).join("; "),
        held: inSqlite.length === 0,
      },
      mutantResult({
        what: "keeps tenants apart by lower-case names",
        tried: "1,000 operations",
        seen: `${mixed.length} leaks seen`,
        held: mixed.length > 0,
      }),
    ];
  },
};
