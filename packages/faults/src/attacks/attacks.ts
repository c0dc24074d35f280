import { type OutcomeInput, QavrError } from "@qavr/core";
import { createRunTokens } from "@qavr/core/governance";
import { exportState } from "@qavr/core/maintenance";
import { AttackedWorld, BEST, type Layer, type Rank, TARGET } from "./world.js";

/** How large an attack is. */
export interface AttackSize {
  /** Runs of honest users before it. */
  readonly honest: number;
  /** Outcomes of the single attacker, and made-up sources with ten each. */
  readonly fakes: number;
  readonly sybils: number;
  /** Runs of the manipulated stream. */
  readonly stream: number;
  /** Outcomes without a valid sender. */
  readonly forged: number;
}

export const FULL: AttackSize = { honest: 1_500, fakes: 10_000, sybils: 100, stream: 20_000, forged: 10_000 };
export const QUICK: AttackSize = { honest: 600, fakes: 300, sybils: 30, stream: 800, forged: 300 };

/** Result of an attack. `worst` is the attacker's gain, in `unit`. */
export interface AttackResult {
  readonly worst: number;
  readonly unit: string;
  /** True when the promise holds. */
  readonly held: boolean;
}

export interface Attack {
  /** Number in the list of threats. */
  readonly id: string;
  readonly title: string;
  readonly promise: string;
  run(layer: Layer, size: AttackSize, seed: number): Promise<AttackResult>;
}

/** A memory's final score may rise by so much, in standard deviations of the similarities. */
const MOVED = 0.25;

/** Praises a memory in runs made up for it. */
type Praise = (world: AttackedWorld, collection?: string) => Promise<void>;

/**
 * Lets fake praise loose on a world with a history, and says how far up it has brought the target: further than in the same world
 * where the same praise goes to another collection. New claims also make the ledger weigh honest old ones again, by what their
 * sources are trusted by now, which moves memories whomever the claims are about.
 */
async function moved(layer: Layer, { honest }: AttackSize, seed: number, praise: Praise): Promise<AttackResult> {
  const rankAfter = async (collection?: string): Promise<Rank> => {
    const world = new AttackedWorld(layer, seed);
    await world.live(honest);
    await praise(world, collection);
    return world.rank(TARGET);
  };
  const [after, otherwise] = [await rankAfter(), await rankAfter("elsewhere")];
  const worst = Math.max(0, after.lift - otherwise.lift);
  return { worst, unit: "σ", held: worst <= MOVED && after.aboveBest <= otherwise.aboveBest };
}

async function report(
  world: AttackedWorld,
  id: string,
  outcome: OutcomeInput,
  times: number,
  collection?: string,
): Promise<void> {
  for (let i = 0; i < times; i++) await world.engine.end(await world.show(id, collection), outcome);
}

const success = (source: string): OutcomeInput => ({ reward: true, source, helpful: ["m1"] });

export const ATTACKS: readonly Attack[] = [
  {
    id: "S1",
    title: "injected memories, praised by an agent that imitates rank 1",
    promise: "none above the verified relevant memory, none in another namespace",
    async run(layer, { honest }, seed) {
      const injected = Array.from({ length: 15 }, (_, i) => ({ id: `injected ${i}`, behind: 0.005 * (i + 1) }));
      const world = new AttackedWorld(layer, seed, injected);
      await world.live(honest);
      for (let turn = 0; turn < 50; turn++) {
        const { episode, items } = await world.engine.rank({ ...world.attackedRequest(), topK: 3 });
        await world.engine.end(episode, {
          reward: true,
          tier: "self-reported",
          source: "agent",
          helpful: [items[0]?.id as string],
        });
        await report(
          world,
          `injected ${turn % 15}`,
          { reward: true, tier: "self-reported", source: "agent", helpful: ["m1"] },
          5,
        );
      }
      let above = 0;
      for (let query = 0; query < 30; query++) {
        const { items } = await world.engine.rank({ ...world.attackedRequest(), topK: 40, record: false });
        const best = items.findIndex(({ id }) => id === BEST);
        if (items.slice(0, best).some(({ id }) => id.startsWith("injected"))) above += 1;
      }
      const elsewhere = await exportState(world.engine, { namespace: "another" });
      return { worst: above / 30, unit: "of victims' queries", held: above === 0 && elsewhere.memories.length === 0 };
    },
  },
  {
    id: "S2",
    title: "ten grafted procedures that “succeeded”, self-reported",
    promise: "never first before a verified memory",
    async run(layer, { honest }, seed) {
      const grafts = Array.from({ length: 10 }, (_, i) => ({ id: `graft ${i}`, behind: 0.005 * (i + 1) }));
      const world = new AttackedWorld(layer, seed, grafts);
      await world.live(honest);
      for (const { id } of grafts)
        await report(world, id, { reward: true, tier: "self-reported", source: id, helpful: ["m1"] }, 20);
      let first = 0;
      for (let query = 0; query < 30; query++) {
        const { items } = await world.engine.rank({ ...world.attackedRequest(), topK: 1, record: false });
        if (items[0]?.id.startsWith("graft")) first += 1;
      }
      return { worst: first / 30, unit: "of first places", held: first === 0 };
    },
  },
  {
    id: "S3",
    title: "one source, thousands of fake successes",
    promise: `the target rises by at most ${MOVED} σ and passes no verified memory`,
    run: (layer, size, seed) =>
      moved(layer, size, seed, (world, collection) =>
        report(world, TARGET, success("attacker"), size.fakes, collection),
      ),
  },
  {
    id: "S4",
    title: "made-up sources with ten fake successes each",
    promise: `the target rises by at most ${MOVED} σ and passes no verified memory`,
    run: (layer, size, seed) =>
      moved(layer, size, seed, async (world, collection) => {
        for (let sybil = 0; sybil < size.sybils; sybil++) {
          await report(world, TARGET, success(`sybil ${sybil}`), 10, collection);
        }
      }),
  },
  {
    id: "S5",
    title: "slander of the best memory by one source",
    promise: "it stays among the first three, or where it stood",
    async run(layer, { honest, fakes }, seed) {
      const world = new AttackedWorld(layer, seed);
      await world.live(honest);
      const before = await world.rank(BEST);
      await report(world, BEST, { reward: false, source: "attacker", harmful: ["m1"] }, fakes);
      const after = await world.rank(BEST);
      const worst = Math.max(0, after.place - before.place);
      return { worst, unit: "places lost", held: after.place <= 3 || worst < 0.1 };
    },
  },
  {
    id: "S7",
    title: "an agent that reports success on every run while the checker says otherwise",
    promise: "the checker's word counts, and the agent's trust is 0",
    async run(layer, { honest }, seed) {
      const world = new AttackedWorld(layer, seed);
      await world.live(honest);
      let counted = 0;
      for (let run = 0; run < 60; run++) {
        const episode = await world.show(TARGET);
        const orders = [
          () => world.engine.report(episode, { reward: true, tier: "self-reported", source: "agent" }),
          () => world.engine.report(episode, { reward: false, tier: "verified", source: "checker" }),
        ];
        for (const say of run % 2 === 0 ? orders : orders.toReversed()) await say();
        await world.engine.end(episode);
        if ((await world.engine.explain(episode))?.outcome?.reward !== 0) counted += 1;
      }
      const { sources } = await world.engine.status();
      const agent = sources.find(({ source }) => source === "agent");
      const isFlagged = agent?.flags.includes("contradicted") === true;
      return {
        worst: counted / 60,
        unit: "of runs decided by the agent",
        held: counted === 0 && agent?.trust === 0 && isFlagged,
      };
    },
  },
  {
    id: "S8",
    title: "outcomes for what was not shown, foreign and past runs, forged and used tokens",
    promise: "none is accepted",
    async run(layer, { forged }, seed) {
      const world = new AttackedWorld(layer, seed);
      const tokens = createRunTokens({
        engine: world.engine,
        secret: new Uint8Array(32).fill(seed + 1),
        clock: () => world.clock.now,
      });
      const past = await world.show(BEST);
      await world.engine.end(past);
      world.clock.now += 40 * 86_400_000;
      let accepted = 0;
      const refuse = async (attempt: () => Promise<{ readonly status: string }>): Promise<void> => {
        try {
          if ((await attempt()).status === "committed") accepted += 1;
        } catch (error) {
          if (!QavrError.isInstance(error)) throw error;
        }
      };
      for (let i = 0; i < forged; i += 5) {
        const episode = await world.show(BEST);
        await world.engine.end(episode);
        const token = await tokens.issue({ episode, source: "browser" });
        await tokens.report(token, { reward: true });
        await refuse(() => world.engine.report(episode, { reward: true, helpful: [TARGET] }));
        await refuse(() => world.engine.report(episode, { reward: true }, { namespace: "another" }));
        await refuse(() => world.engine.report(past, { reward: true }));
        await refuse(() => tokens.report(token, { reward: i % 2 === 0 }));
        const at = 5 + (i % 40);
        await refuse(() =>
          tokens.report(token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1), { reward: true }),
        );
      }
      return { worst: accepted, unit: "accepted", held: accepted === 0 };
    },
  },
  {
    id: "S26",
    title: "an agent that saves what it recalled in other words, 100 times, and praises each copy ten times",
    promise: "no copy inherits anything or rises above the verified original",
    async run(layer, { honest }, seed) {
      const copies = Array.from({ length: 100 }, (_, i) => ({ id: `copy ${i}`, behind: 0.0001 * (i + 1) }));
      const world = new AttackedWorld(layer, seed, copies);
      await world.live(honest);
      let above = 0;
      for (const { id } of copies) {
        const fresh = await exportState(world.engine);
        if (fresh.memories.some((memory) => memory.id === id)) above += 1;
        await report(world, id, { reward: true, tier: "self-reported", source: "agent", helpful: ["m1"] }, 10);
      }
      const { items } = await world.engine.rank({ ...world.attackedRequest(), topK: 200, record: false });
      const best = items.findIndex(({ id }) => id === BEST);
      above += items.slice(0, best).filter(({ id }) => id.startsWith("copy")).length;
      return { worst: above, unit: "copies above it", held: above === 0 };
    },
  },
];
