import { checkLoop, LOOP_RUNS, readLoop } from "../engine/check-loop.js";
import { partsOf } from "../engine/parts.js";
import type { Engine, Ranking } from "../engine/types.js";
import type { SharedLogCode } from "./log-codes.js";

/** Rankings between two looks at the ledger. The first ranking looks too: a process may live for one run. */
const RANKINGS_PER_LOOK = 10;
/** The same once enough runs were looked at: what was well may break later, with a new version or a judge that falls silent. */
const RANKINGS_PER_LATER_LOOK = 100;

/** Counts of one engine, which several kits may share. */
interface Counts {
  readonly warned: Set<string>;
  rankings: number;
  /** True once enough runs of a namespace were looked at. */
  checked: boolean;
}

const KNOWN = new WeakMap<Engine, Counts>();

/** Notices uses of an engine that teach it little. */
export interface LearningWatch<Code extends string> {
  /** Warns once per engine and code; never where learning is off. */
  warnOnce(code: Code | SharedLogCode, message: string): void;
  /** Notes a ranking. Resolves after the look at the ledger, if one was due. Never rejects. */
  ranked(namespace: string, ranking: Ranking): Promise<void>;
}

export function watchLearning<Code extends string>(
  engine: Engine,
  warn: (code: Code | SharedLogCode, message: string) => void,
): LearningWatch<Code> {
  const counts = KNOWN.get(engine) ?? { warned: new Set(), rankings: 0, checked: false };
  KNOWN.set(engine, counts);

  const watch: LearningWatch<Code> = {
    warnOnce(code, message) {
      if (!engine.enabled || counts.warned.has(code)) return;
      counts.warned.add(code);
      warn(code, message);
    },

    async ranked(namespace, { episode }) {
      // Unrecorded rankings teach nothing by intent.
      if (episode === "") return;
      if (counts.rankings++ % (counts.checked ? RANKINGS_PER_LATER_LOOK : RANKINGS_PER_LOOK) !== 0) return;
      // Diagnosis only: failing reads are ignored.
      await look(namespace).catch(() => {});
    },
  };
  const look = async (namespace: string): Promise<void> => {
    const { states, store } = partsOf(engine);
    const stats = await states.stats(namespace);
    if (!stats) return;
    counts.checked = stats.episodes >= LOOP_RUNS;
    for (const { code, finding, fix } of checkLoop(await readLoop(engine, namespace, await store.head(namespace)))) {
      watch.warnOnce(code, `${finding} ${fix}`);
    }
  };
  return watch;
}
