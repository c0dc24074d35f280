import {
  type FieldRules,
  MAX_FETCH_K,
  placesWithin,
  resolveOptions,
  SKILL_CHARACTERS,
  sizeOfSkill,
  whole,
  withinBudget,
} from "@qavr/core/adapter";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { z } from "zod";
import { type MemoryHandle, partsOf } from "../memory-parts.js";
import { QavrRetriever, type RetrieverOptions } from "../qavr-retriever.js";
import { noteRead, retrieveForAgent } from "./agent-retrieval.js";
import { describedCollections } from "./described-collections.js";
import { type AgentState, MIDDLEWARE_DEFAULTS, type MiddlewareOptions, RUN_RULES } from "./middleware-options.js";

/** Fields of {@link rankedSkills}. */
export interface RankedSkillsFields
  extends Pick<MiddlewareOptions, "name" | "query">,
    Pick<RetrieverOptions, "collection" | "namespace" | "context"> {
  /** The object that `qavr()` returned. */
  readonly memory: MemoryHandle;
  /** The most characters of names, descriptions and paths in a run's listing. @default 15,000 */
  readonly maxCharacters?: number | undefined;
}

const DEFAULTS = {
  name: "qavr_skills",
  query: MIDDLEWARE_DEFAULTS.query,
  collection: "skills",
  maxCharacters: SKILL_CHARACTERS,
} as const;

/** A skill in the state key `skillsMetadata` of deepagents. */
interface Skill {
  readonly name: string;
  readonly description: string;
  readonly path: string;
}

/** The ranking of a run; null before it. */
const STATE = z
  .object({
    /** The skills as the host has loaded them. */
    all: z.array(z.any()),
    /** The paths of those that are listed, in their order. */
    listed: z.array(z.string()),
    retrieval: z.string().optional(),
  })
  .nullable()
  .default(null);
type State = z.infer<typeof STATE>;

/**
 * Middleware that lists to each run of a deep agent the skills that fit the request and helped in runs like it: best first, as many as
 * fit. It ranks the skills that the skills middleware of `deepagents` has loaded into the state, once per run, by the last human
 * message, and must stand behind that middleware (`createDeepAgent` takes care of it). Loader, prompt and `read_file` stay the host's.
 * A skill that is listed counts as shown, one whose `SKILL.md` is read as used. Track the agent as well.
 *
 * When the skills cannot be ranked, or there is no request, all are listed as the host has them; the former is logged as
 * MEMORIES_UNAVAILABLE.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 * @example
 * memory.track(createDeepAgent({ model, backend, skills: ["/skills/"], middleware: [rankedSkills({ memory })] }))
 */
export function rankedSkills(fields: RankedSkillsFields): AgentMiddleware {
  const options = resolveOptions("rankedSkills()", fields, DEFAULTS, OPTIONS);
  const { memory, name, query, maxCharacters, ...rest } = options;
  const parts = partsOf(memory);
  const stateKey = `_${name}`;
  const asCollection = describedCollections(rest.collection);
  // Wrong options are refused now, not in the first run.
  retrieverOf([], 1);

  function retrieverOf(skills: readonly Skill[], k: number): QavrRetriever {
    return new QavrRetriever({
      ...rest,
      memory,
      base: asCollection(skills),
      k,
      fetchK: Math.max(k, Math.min(skills.length, MAX_FETCH_K)),
      idOf: ({ id }) => id,
      required: true,
    });
  }

  return createMiddleware({
    name,
    stateSchema: z.object({ [stateKey]: STATE, skillsMetadata: z.array(z.any()).nullish() }),
    beforeAgent(state) {
      const { ranked, skills } = read(state, stateKey);
      // The thread keeps the listing of its last run.
      return ranked && isListing(skills, ranked)
        ? { [stateKey]: null, skillsMetadata: ranked.all }
        : { [stateKey]: null };
    },
    async beforeModel(state) {
      const { ranked, skills } = read(state, stateKey);
      if (skills.length === 0 || !parts.kit.engine.enabled) return undefined;
      if (ranked && isListing(skills, ranked)) {
        noteRead(parts, ranked.retrieval);
        return undefined;
      }
      const byName = new Map(skills.map((skill) => [skill.name, skill]));
      const places = placesWithin(skills.map(sizeOfSkill), maxCharacters);
      const retrieved = await retrieveForAgent(
        parts,
        {
          retriever: retrieverOf(skills, Math.min(places, MAX_FETCH_K)),
          query,
          choose: async (documents) => {
            const found = documents.flatMap((document) => {
              const skill = byName.get(document.id as string);
              return skill ? [{ document, skill }] : [];
            });
            return withinBudget(found, maxCharacters, ({ skill }) => sizeOfSkill(skill));
          },
          failed: "An agent's skills could not be ranked; all were listed.",
        },
        state as unknown as AgentState,
      );
      const listed = retrieved?.chosen.map(({ skill }) => skill) ?? skills;
      noteRead(parts, retrieved?.retrieval);
      const next: State = { all: [...skills], listed: listed.map(({ path }) => path), retrieval: retrieved?.retrieval };
      return { [stateKey]: next, skillsMetadata: [...listed] };
    },
  });
}

const OPTIONS: FieldRules<RankedSkillsFields> = { ...RUN_RULES, collection: true, maxCharacters: whole(1) };

function read(state: object, stateKey: string): { readonly ranked: State; readonly skills: readonly Skill[] } {
  const values = state as Readonly<Record<string, unknown>>;
  const skills = values.skillsMetadata;
  return { ranked: (values[stateKey] ?? null) as State, skills: Array.isArray(skills) ? (skills as Skill[]) : [] };
}

/** True where the skills are those that this middleware has listed, and not the host's, loaded anew. */
function isListing(skills: readonly Skill[], { listed }: NonNullable<State>): boolean {
  return skills.length === listed.length && skills.every(({ path }, place) => path === listed[place]);
}
