import type { RequestContext } from "@mastra/core/request-context";
import type { SkillMetadata, SkillSearchOptions, SkillSearchResult, WorkspaceSkills } from "@mastra/core/workspace";
import {
  checkFields,
  describedSearch,
  type FieldRules,
  illegalOption,
  placesWithin,
  SKILL_CHARACTERS,
  sizeOfSkill,
  whole,
  withinBudget,
  withMembers,
} from "@qavr/core/adapter";
import { partsOf } from "../memory-parts.js";
import type { QavrMemory } from "../qavr-memory.js";
import type { AgentRun } from "../runs/agent-run.js";
import { askingRun, rankDescribed } from "./rank-described.js";

/** A workspace of Mastra, reduced to its skills. */
export interface SkilledWorkspace {
  readonly skills: WorkspaceSkills | undefined;
}

/** Fields of {@link rankedWorkspace}. */
export interface RankedWorkspaceFields<Workspace extends SkilledWorkspace = SkilledWorkspace> {
  /** The agent's memory. */
  readonly memory: QavrMemory;
  /** The workspace with the skills. */
  readonly workspace: Workspace;
  /** The most characters of names, descriptions and paths in a run's listing. @default 15,000 */
  readonly maxCharacters?: number | undefined;
}

const DEFAULTS = { maxCharacters: SKILL_CHARACTERS, collection: "skills" } as const;
/** Mastra's default number of results of a search for skills. */
const FOUND = 5;

const OPTIONS: FieldRules<RankedWorkspaceFields> = { memory: true, workspace: true, maxCharacters: whole(1) };

/** Skills of one request. The newest Mastra asks for them with `getScoped`; older versions have no such method. */
type ScopedSkills = WorkspaceSkills & {
  getScoped?(context?: { readonly requestContext?: RequestContext }): Promise<WorkspaceSkills>;
};

/**
 * The same workspace, whose skills are chosen by outcomes: the listing of a run holds the skills that fit the request and helped in
 * runs like it, as many as fit, and searches for skills return their results in learned order. Mastra loads, prints and searches them
 * as before; it prints a listing by name. A skill that is listed or found counts as shown, one that is loaded as used.
 *
 * Outside a run of the memory, and where ranking fails, everything is Mastra's own.
 *
 * @throws INVALID_ARGUMENT
 * @example
 * new Agent({ memory, workspace: rankedWorkspace({ memory, workspace }) })
 */
export function rankedWorkspace<Workspace extends SkilledWorkspace>(
  fields: RankedWorkspaceFields<Workspace>,
): Workspace {
  checkFields("The ranked skills", fields, OPTIONS);
  const { memory, workspace, maxCharacters = DEFAULTS.maxCharacters } = fields;
  const parts = partsOf(memory);
  const skills = workspace?.skills as ScopedSkills | undefined;
  if (!skills) throw illegalOption("workspace", "workspace must be a Workspace with skills", workspace);
  if (!parts.enabled) return workspace;
  if (!skills.getScoped) {
    parts.kit.warnOnce(
      "SKILLS_NOT_RANKED",
      "This version of @mastra/core does not say for which run it lists skills, so they stay in its own order. Update it to rank them.",
    );
    return workspace;
  }
  parts.shared.vectors.share = true;
  const similar = describedSearch();
  const listings = new WeakMap<AgentRun, Promise<readonly SkillMetadata[] | undefined>>();

  /** The skills that fit into the listing of a run, in learned order. */
  const choose = async (
    run: AgentRun,
    all: readonly SkillMetadata[],
  ): Promise<readonly SkillMetadata[] | undefined> => {
    if (all.length === 0) return undefined;
    const { text } = run;
    const hits = similar(all, text ?? "");
    const byName = new Map(all.map((skill) => [skill.name, skill]));
    const skillAt = (place: number): SkillMetadata => byName.get(hits[place]?.id as string) as SkillMetadata;
    const topK = placesWithin(all.map(sizeOfSkill), maxCharacters);
    const choose = (places: readonly number[]): number[] =>
      withinBudget(places, maxCharacters, (place) => sizeOfSkill(skillAt(place)));
    const { collection } = DEFAULTS;
    const places = await rankDescribed(parts, run, { collection, text, hits, topK, choose });
    return places?.map(skillAt);
  };

  /** One request's skills. Its first question says whether it lists skills or looks them up. */
  const scoped = (inner: ScopedSkills, requestContext: RequestContext | undefined): ScopedSkills => {
    let lists: boolean | undefined;
    return withMembers(inner, {
      async getScoped(context?: { readonly requestContext?: RequestContext }) {
        const own = (await inner.getScoped?.(context)) ?? inner;
        return scoped(own, context?.requestContext);
      },
      async get(name: string) {
        lists ??= false;
        return inner.get(name);
      },
      async list() {
        lists ??= true;
        const all = await inner.list();
        const run = lists ? await askingRun(parts, requestContext) : undefined;
        if (!run) return all;
        const listing = listings.get(run) ?? failingOpen(() => choose(run, all));
        listings.set(run, listing);
        return [...((await listing) ?? all)];
      },
      async search(query: string, options: SkillSearchOptions = {}) {
        lists ??= false;
        const run = await askingRun(parts, requestContext);
        return run ? search(run, inner, query, options) : inner.search(query, options);
      },
    }) as ScopedSkills;
  };

  /** Results in the order of their skills, which is learned. */
  const search = async (
    run: AgentRun,
    inner: WorkspaceSkills,
    query: string,
    options: SkillSearchOptions,
  ): Promise<SkillSearchResult[]> => {
    const { topK = FOUND } = options;
    const limit = (await parts.kit.fetchSize({ namespace: run.namespace, topK }, run.runId)) ?? topK;
    const results = await inner.search(query, { ...options, topK: limit });
    const ranked = await failingOpen(async () => {
      const described = new Map((await inner.list()).map(({ name, description }) => [name, description]));
      const names = [...new Set(results.map(({ skillName }) => skillName))];
      if (names.length === 0) return undefined;
      const best = Math.max(...results.map(({ score }) => score));
      const hits = names.map((name) => {
        const score = results.find(({ skillName }) => skillName === name)?.score ?? 0;
        // Between 0 and 1, as in listings: scores of BM25 have no upper end.
        const similarity = best > 0 ? score / best : 0;
        return { id: name, text: `${name}: ${described.get(name) ?? ""}`, similarity };
      });
      const resultsOf = (place: number): SkillSearchResult[] =>
        results.filter(({ skillName }) => skillName === names[place]);
      // A skill has a result for each of its files: those of the first skills may take all places.
      const choose = (places: readonly number[]): number[] => {
        let taken = 0;
        return places.filter((place) => {
          const before = taken;
          taken += resultsOf(place).length;
          return before < topK;
        });
      };
      const { collection } = DEFAULTS;
      const places = await rankDescribed(parts, run, { collection, text: query, hits, topK, choose });
      return places?.flatMap(resultsOf);
    });
    return (ranked ?? results).slice(0, topK);
  };

  const failingOpen = async <Result>(rank: () => Promise<Result | undefined>): Promise<Result | undefined> => {
    try {
      return await rank();
    } catch (error) {
      parts.kit.failOpen("RANKING_FAILED", "Skills could not be ranked; Mastra's own order stands.", { error });
      return undefined;
    }
  };

  const ranked = withMembers(workspace, { skills: scoped(skills, undefined) }) as Workspace;
  // It may outlive its memory.
  parts.shared.useFor(ranked);
  return ranked;
}
