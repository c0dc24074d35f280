import {
  type Candidate,
  createEngine,
  type Learner,
  memoryStore,
  type OutcomeInput,
  type RankedItem,
  type Ranking,
  type RankRequest,
} from "@qavr/core";
import { governance } from "@qavr/core/governance";
import { type Report, type Request, reports, USED_RATES, uniformAt, used, votes, type World, widener } from "@qavr/lab";
import { type Arm, type Asked, countedIds, FIRST_RUN, RUN_INTERVAL } from "./arm.js";
import { needClassifier } from "./need-classifier.js";

/** Setup of an engine for a comparison, and the reports that it receives. */
export interface EngineArmOptions {
  /** A fresh learner; learners are pure, but settings may differ from row to row. */
  readonly learner: () => Learner;
  /**
   * Source of the request vector: the host's embedding, the same turned into as many dimensions as models give, or the
   * engine's own hash of the text.
   * @default "embedding"
   */
  readonly vector?: "embedding" | "wide" | "text";
  /** True if the agent votes on memories. @default false */
  readonly votes?: boolean;
  /** The run lists the memories that it used: as a finder sees them, the true ones, or with three flags in ten wrong. @default no list */
  readonly used?: keyof typeof USED_RATES;
  /** Groups of the memories that the host names: their needs, or any at random. @default none */
  readonly groups?: "needs" | "random";
  /** The host names as context the need that a classifier infers, which is trained on the needs of the runs before. @default none */
  readonly context?: "inferred need";
  /** Memories that are ranked for a list. @default the world's k */
  readonly topK?: number;
  /** The memories of a ranking that are shown. @default all */
  readonly choose?: (ranking: Ranking) => readonly RankedItem[];
  /** How far sources are believed. @default "off" */
  readonly trust?: "off" | "audited";
  /** The reports about a run that it receives. @default all of them */
  readonly hears?: (report: Report) => boolean;
}

/** Held-out requests are asked again and again. */
const known = new WeakMap<Float32Array, Float32Array>();
let widen: ReturnType<typeof widener> | undefined;

function widened(vector: Float32Array): Float32Array {
  widen ??= widener(vector.length);
  const wide = known.get(vector) ?? widen(vector);
  known.set(vector, wide);
  return wide;
}

/** Groups of four memories on average, whatever their needs. */
function randomGroup({ seed, lessons }: World, id: string): number {
  return Math.floor((uniformAt(seed, RANDOM_GROUP, Number(id.slice(1))) * lessons.length) / 4);
}

/** Place of the draw of random groups, away from those of runs. */
const RANDOM_GROUP = 101;

/** Candidates that a learner without a wish of its own chooses from. */
const FETCHED = 50;

/**
 * The public engine over an in-memory store, as an application would drive it. Whatever the engine has to complain about would make
 * the numbers wrong, so the next call throws it.
 */
export function engineArm(world: World, options: EngineArmOptions): Arm {
  const { learner, hears = () => true, topK = world.k, choose = ({ items }) => items } = options;
  let now = FIRST_RUN;
  const complaints: string[] = [];
  const complain = (message: string): void => void complaints.push(message);
  const engine = createEngine({
    store: memoryStore(),
    learner: learner(),
    ...(options.trust === "audited" ? { governance: governance({ trust: "audited" }) } : {}),
    clock: () => now,
    createId: countedIds(world.seed),
    logger: { warn: complain, error: complain },
  });
  const fetchK = engine.learner.fetchK?.(topK) ?? FETCHED;
  const classifier = options.context === "inferred need" ? needClassifier(world.needs) : undefined;
  let episode = "";

  /** The engine's result, unless it logged a problem: a logger may not throw by itself. */
  async function withoutComplaint<T>(doing: Promise<T>): Promise<T> {
    const done = await doing;
    if (complaints.length > 0) throw new Error(`The engine complains: ${complaints.join(" ")}`);
    return done;
  }

  async function requestFor({ request, vector, candidates }: Asked): Promise<RankRequest> {
    const width = await engine.fetchSize({ topK, fetchK });
    const context = classifier?.infer(vector)?.toString();
    return { ...about(request, vector), context, candidates: candidates.slice(0, width).map(inGroup), topK };
  }

  function inGroup(candidate: Candidate): Candidate {
    const { id } = candidate;
    if (options.groups === "needs") return { ...candidate, group: String(world.needOf(id)) };
    if (options.groups === "random") return { ...candidate, group: String(randomGroup(world, id)) };
    return candidate;
  }

  function about(request: Request, vector: Float32Array): Pick<RankRequest, "text" | "vector" | "space"> {
    if (options.vector === "text") return { text: request.text };
    if (options.vector === "wide") return { vector: widened(vector), space: "wide" };
    return { vector, space: "lsa-256" };
  }

  function outcome(request: Request, shown: readonly string[], { success, tier, source }: Report): OutcomeInput {
    return {
      reward: world.scenario.scores[success ? 1 : 0],
      tier,
      source,
      ...(options.votes ? votes(world, request, shown) : {}),
      ...(options.used ? { used: used(world, request, shown, USED_RATES[options.used]) } : {}),
    };
  }

  return {
    async show(asked) {
      const ranking = await withoutComplaint(engine.rank(await requestFor(asked)));
      episode = ranking.episode;
      const shown = choose(ranking).map((item) => item.id);
      if (shown.length < ranking.items.length) engine.narrow(episode, ranking.exposure, shown);
      return shown;
    },

    async learn({ request, vector }, shown) {
      now += RUN_INTERVAL;
      classifier?.learn(request, vector);
      const [first, ...later] = reports(world, request, shown).filter(hears);
      await withoutComplaint(engine.end(episode, first && outcome(request, shown, first)));
      for (const report of later) {
        await withoutComplaint(engine.report(episode, outcome(request, shown, report)));
      }
    },

    async preview(asked) {
      const ranking = await withoutComplaint(engine.rank({ ...(await requestFor(asked)), record: false }));
      return choose(ranking).map((item) => item.id);
    },

    close: () => engine.close(),
  };
}
