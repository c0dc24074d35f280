import { DEFAULT_NAME, NAME } from "../engine/check.js";
import { type EngineParts, partsOf } from "../engine/parts.js";
import type { MemoryView } from "../engine/reports.js";
import type { Engine } from "../engine/types.js";
import { checkFields, type FieldRules, FUNCTION, NOT_NEGATIVE, problemOf, SWITCH } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import { commitEvent } from "./commit-event.js";
import type { PrunedMemory, PruneReport } from "./reports.js";

/** A body of memories that can take some of them out of its searches without losing them, such as `localMemories()` of `@qavr/local`. */
export interface PrunableCollection {
  /** Its name in the ledger. */
  readonly name: string;
  /** Whose memories these are. @default "default" */
  readonly namespace?: string | undefined;
  /** A page of the memories that are not archived; `createdAt` in Unix ms. `next` is absent after the last page. */
  list(page: { readonly after?: string; readonly limit: number }): Promise<{
    readonly memories: readonly { readonly id: string; readonly createdAt: number }[];
    readonly next?: string | undefined;
  }>;
  archive(ids: readonly string[]): Promise<unknown>;
}

/** A memory for which both conditions hold is archived. */
export interface PruneRule {
  /** Its {@link voteScore} is this or lower; in (−10, 0). */
  readonly score: number;
  /** Whole days since it was shown last, or added if it never was, are this many or more. @default no condition */
  readonly unusedDays?: number | undefined;
}

export interface PruneOptions {
  /** A memory that meets one of them is archived. @default −8; after 90 unused days −5; after 180 −3 */
  readonly rules?: readonly PruneRule[] | undefined;
  /** The namespace whose votes count. @default the collection's */
  readonly namespace?: string | undefined;
  /** Only says what would be archived. @default false */
  readonly dryRun?: boolean | undefined;
}

const DEFAULT_RULES: readonly PruneRule[] = [
  { score: -8 },
  { score: -5, unusedDays: 90 },
  { score: -3, unusedDays: 180 },
];

/** Bound of a score. No number of votes reaches it. */
const LIMIT = 10;
/** Votes on either side that a score starts with. */
const PRIOR = 2;
const DAY = 86_400_000;
/** Memories in one page, and in one entry of the ledger. */
const PART = 1_000;

/**
 * The votes on a memory as a number in (−10, 10):
 *
 *     score = 10 · (helpful − harmful) / (helpful + harmful + 2)
 *
 * 0 without votes. A helpful vote never lowers it and a harmful one never raises it. From 0, two harmful votes make −5, eight −8.
 */
export function voteScore({ helpful, harmful }: Pick<MemoryView, "helpful" | "harmful">): number {
  return (LIMIT * (helpful - harmful)) / (helpful + harmful + PRIOR);
}

/**
 * Archives the memories of a collection that misled, by the votes on them, and notes it in the ledger. Nothing is deleted:
 * `collection.restore(ids)` undoes it, and the votes stay. Run it every day or week; `status().lastPruned` is when it last ran.
 *
 * @throws INVALID_ARGUMENT, also for a rule that could never hold; INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH, and the codes of the
 * store and the collection
 * @example
 * const { archived } = await prune(memory.engine, claims, { dryRun: true });
 */
export async function prune(
  engine: Engine,
  collection: PrunableCollection,
  options: PruneOptions = {},
): Promise<PruneReport> {
  const parts = partsOf(engine);
  const problem = problemOf(collection, COLLECTION);
  if (problem) {
    const message = `prune: the collection cannot be pruned, since ${problem}. Give one such as localMemories().`;
    throw new QavrError("INVALID_ARGUMENT", message, { details: { problem } });
  }
  checkFields("prune", options, OPTIONS);
  const { rules = DEFAULT_RULES, namespace = collection.namespace ?? DEFAULT_NAME, dryRun = false } = options;
  rules.forEach((rule, i) => {
    checkFields(`prune: rules[${i}]`, rule, RULE, ["score"]);
  });
  const at = parts.now();
  const archived: PrunedMemory[] = [];
  let memories = 0;
  let after: string | undefined;
  do {
    const page = await collection.list({ limit: PART, ...(after === undefined ? {} : { after }) });
    const views = await engine.memories({
      namespace,
      collection: collection.name,
      ids: page.memories.map(({ id }) => id),
    });
    for (const [i, { id, createdAt }] of page.memories.entries()) {
      const { lastShown = createdAt, helpful, harmful } = views.memories[i] as MemoryView;
      const memory = {
        id,
        score: voteScore({ helpful, harmful }),
        unusedDays: Math.floor((at - lastShown) / DAY),
        helpful,
        harmful,
      };
      if (rules.some((rule) => holds(rule, memory))) archived.push(memory);
    }
    memories += page.memories.length;
    after = page.next;
  } while (after !== undefined);
  if (!dryRun) {
    const ids = archived.map(({ id }) => id);
    if (ids.length > 0) await collection.archive(ids);
    await parts.tasks.track(note(parts, namespace, collection.name, ids));
  }
  return { namespace, collection: collection.name, memories, archived, at, dryRun };
}

/** An entry even where nothing was archived: that it ran is a fact, too. */
async function note(parts: EngineParts, namespace: string, collection: string, ids: readonly string[]): Promise<void> {
  for (let start = 0; start === 0 || start < ids.length; start += PART) {
    const event = { type: "prune", collection, ids: ids.slice(start, start + PART) } as const;
    await commitEvent(parts, namespace, event);
  }
}

function holds({ score, unusedDays }: PruneRule, memory: PrunedMemory): boolean {
  return memory.score <= score && (unusedDays === undefined || memory.unusedDays >= unusedDays);
}

const COLLECTION = { name: NAME, list: FUNCTION, archive: FUNCTION };

const OPTIONS: FieldRules<PruneOptions> = {
  rules: [Array.isArray, "a list of { score, unusedDays }"],
  namespace: NAME,
  dryRun: SWITCH,
};

const RULE: FieldRules<PruneRule> = {
  score: [
    (value) => typeof value === "number" && value > -LIMIT && value < 0,
    `above −${LIMIT}, which votes never reach, and below 0, where memories without votes are`,
  ],
  unusedDays: NOT_NEGATIVE,
};
