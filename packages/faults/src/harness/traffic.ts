import { setTimeout as pause } from "node:timers/promises";
import { type Engine, QavrError } from "@qavr/core";
import { verify } from "@qavr/core/maintenance";
import { rankFor, record, retry, SHOWN } from "./runs.js";

/** How often a refused call is repeated when the fault is over, and how long after, ms: longer than any breaker's pause. */
const TIMEOUT = 100;
const PAUSE = 100;

/** Runs of one engine under faults: what was asked of it, what it answered, and whether that was true. */
export class Traffic {
  readonly engine: Engine;
  rankings = 0;
  /** Degraded rankings by their code. */
  readonly degraded: Map<string, number> = new Map();
  threw = 0;
  /** Degraded rankings that were not the host's first. */
  reordered = 0;
  /** The slowest ranking, ms. */
  slowest = 0;
  committed = 0;
  queued = 0;
  /** Refused outcomes by code. */
  readonly refused: Map<string, number> = new Map();
  /** Runs whose outcome had no single place in the ledger after everybody had asked again. */
  missing = 0;
  /** Outcomes in the ledger beyond one per run, or short of it. */
  miscounted = 0;
  /** Ledgers that did not verify. */
  broken = 0;
  #runs = 0;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  /** Ranks, records nothing, and returns the code of a degraded ranking. */
  async rank(): Promise<string | undefined> {
    const started = performance.now();
    this.rankings += 1;
    const ranking = await rankFor(this.engine, this.rankings, false).catch(() => undefined);
    this.slowest = Math.max(this.slowest, performance.now() - started);
    if (!ranking) this.threw += 1;
    if (!ranking?.degraded) return undefined;
    count(this.degraded, ranking.degraded.code);
    if (ranking.items.length !== SHOWN || ranking.items.some(({ index }, place) => index !== place))
      this.reordered += 1;
    return ranking.degraded.code;
  }

  /** Records runs, all at once. */
  async record(runs: number): Promise<void> {
    const first = this.#runs;
    this.#runs += runs;
    await Promise.all(
      Array.from({ length: runs }, async (_, i) => {
        try {
          const receipt = await record(this.engine, first + i);
          if (receipt?.status === "queued") this.queued += 1;
          else this.committed += 1;
        } catch (error) {
          count(this.refused, QavrError.isInstance(error) ? error.code : String(error));
        }
      }),
    );
  }

  /** Everybody asks again, as who got no answer would; every run must be in the ledger once then. */
  async settle(): Promise<void> {
    for (let run = 0; run < this.#runs; run++) {
      const known =
        (await this.#untilTaken(() => retry(this.engine, run))) ??
        (await this.#untilTaken(() => record(this.engine, run)));
      const again = await this.#untilTaken(() => retry(this.engine, run));
      // An outcome in the outbox has no place until it is sent.
      const place = known?.status === "queued" ? again?.seq : known?.seq;
      if (again?.status !== "duplicate" || again.seq !== place) this.missing += 1;
    }
    const { outcomes } = await this.engine.status();
    this.miscounted += Math.abs(outcomes.user - this.#runs);
    if (!(await verify(this.engine)).ok) this.broken += 1;
  }

  /** Asks again and again while neither the store nor the outbox has room, as it may be for a while after a fault. */
  async #untilTaken<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.engine.flush();
        return await ask();
      } catch (error) {
        if (attempt === TIMEOUT || !QavrError.isInstance(error, "OUTBOX_FULL")) throw error;
        await pause(PAUSE);
      }
    }
  }

  get rankingsHeld(): boolean {
    return this.threw === 0 && this.reordered === 0 && this.degraded.size > 0;
  }

  get outcomesHeld(): boolean {
    return this.missing === 0 && this.miscounted === 0 && this.broken === 0 && this.committed > 0;
  }

  get outcomesSeen(): string {
    return `${this.missing} lost, ${this.miscounted} counted otherwise than once, ${this.broken} ledgers that do not verify`;
  }
}

function count(counts: Map<string, number>, code: string): void {
  counts.set(code, (counts.get(code) ?? 0) + 1);
}

/** `3 STORE_TIMEOUT, 12 STORE_CIRCUIT_OPEN` */
export function listed(counts: ReadonlyMap<string, number>): string {
  return counts.size === 0 ? "none" : [...counts].map(([code, number]) => `${number} ${code}`).join(", ");
}
