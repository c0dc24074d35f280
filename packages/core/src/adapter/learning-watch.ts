import { checkLoop, LOOP_RUNS, loadedCollections, readLoop, UNJUDGED_RUNS } from "../engine/check-loop.js";
import { partsOf } from "../engine/parts.js";
import type { Engine, Ranking, RankRequest } from "../engine/types.js";
import type { SharedLogCode } from "./log-codes.js";

/** Rankings with evidence, none with a choice, after which that is no accident. */
const NARROW_RANKINGS = 10;
/** Rankings between two looks at the outcomes. The first ranking looks too: a process may live for one run. */
const RANKINGS_PER_LOOK = 10;

const MESSAGES = {
  NOTHING_TO_CHOOSE_FROM:
    "Searches find no more memories than are shown, so learning can reorder them and never bring in a better one. Show fewer (k, topK), or " +
    "let a wrapped retriever find more. Where all are shown, votes tell them apart: report helpful and harmful ones.",
  NOTHING_JUDGED:
    "Many runs ended and none was judged, so little is learned: a run that merely ends says hardly anything about its memories. Judge runs " +
    "(evaluate), report how they went, pass on people's ratings, or give the agent the report tool.",
} satisfies Partial<Record<SharedLogCode, string>>;

/** Counts of one engine, which several kits may share. */
interface Counts {
  readonly warned: Set<string>;
  rankings: number;
  /** Rankings with evidence before the first one with more candidates than places, by collection. */
  readonly narrow: Map<string, number>;
  /** True once there was such a ranking. */
  hadChoice: boolean;
  /** True once the runs of a namespace were looked at as a whole. */
  checked: boolean;
}

const KNOWN = new WeakMap<Engine, Counts>();

/** Notices uses of an engine that teach it little. */
export interface LearningWatch<Code extends string> {
  /** Warns once per engine and code; never where learning is off. */
  warnOnce(code: Code | SharedLogCode, message: string): void;
  /** Notes a ranking. Resolves when the outcomes were looked at, where it was their turn. Never rejects. */
  ranked(request: RankRequest & { readonly namespace: string }, ranking: Ranking): Promise<void>;
}

export function watchLearning<Code extends string>(
  engine: Engine,
  warn: (code: Code | SharedLogCode, message: string) => void,
): LearningWatch<Code> {
  const counts = KNOWN.get(engine) ?? {
    warned: new Set(),
    rankings: 0,
    narrow: new Map(),
    hadChoice: false,
    checked: false,
  };
  KNOWN.set(engine, counts);

  const watch: LearningWatch<Code> = {
    warnOnce(code, message) {
      if (!engine.enabled || counts.warned.has(code)) return;
      counts.warned.add(code);
      warn(code, message);
    },

    async ranked({ namespace, collection = "default", candidates, topK }, { episode, order }) {
      // Unrecorded rankings teach nothing by intent.
      if (episode === "") return;
      // Without evidence the host is asked for no more than is shown.
      counts.hadChoice ||= candidates.length > topK;
      if (order === "learned" && !counts.hadChoice) {
        const narrow = (counts.narrow.get(collection) ?? 0) + 1;
        counts.narrow.set(collection, narrow);
        // Diagnosis only: failing reads are ignored, here and below.
        if (narrow === NARROW_RANKINGS) await checkLoads(namespace, collection).catch(() => {});
      }
      if (counts.checked || counts.rankings++ % RANKINGS_PER_LOOK !== 0) return;
      await look(namespace).catch(() => {});
    },
  };
  const checkLoads = async (namespace: string, collection: string): Promise<void> => {
    const { events } = await readLoop(engine, namespace, await partsOf(engine).store.head(namespace));
    if (!loadedCollections(events).has(collection)) say("NOTHING_TO_CHOOSE_FROM");
  };
  const look = async (namespace: string): Promise<void> => {
    const { states, store } = partsOf(engine);
    const stats = await states.stats(namespace);
    if (!stats) return;
    const { completed, ...judged } = stats.outcomes;
    if (completed >= UNJUDGED_RUNS && !Object.values(judged).some((count) => count > 0)) say("NOTHING_JUDGED");
    if (stats.episodes < LOOP_RUNS) return;
    counts.checked = true;
    for (const { code, finding, fix } of checkLoop(await readLoop(engine, namespace, await store.head(namespace)))) {
      watch.warnOnce(code, `${finding} ${fix}`);
    }
  };
  const say = (code: keyof typeof MESSAGES): void => watch.warnOnce(code, MESSAGES[code]);
  return watch;
}
