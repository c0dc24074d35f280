import { MAX_NOTE } from "../engine/check.js";
import type { Engine, EpisodeView } from "../engine/types.js";

/** A model's report about its own run. */
export interface ReportedOutcome {
  readonly success?: boolean;
  readonly helpful?: string[];
  readonly harmful?: string[];
  readonly note?: string;
}

const handles = (description: string): object => ({ type: "array", items: { type: "string" }, description });

/** The JSON Schema of {@link ReportedOutcome}; every field may be left out. */
export const REPORT_SCHEMA: object = {
  type: "object",
  properties: {
    success: { type: "boolean", description: "Whether the task succeeded. Leave out when it is not known." },
    helpful: handles('Handles of recalled memories that helped, such as ["m1"].'),
    harmful: handles("Handles of recalled memories that were wrong or misleading."),
    note: { type: "string", description: "Why, in one sentence." },
  },
};

/** Tells a model when to report. */
export const REPORT_DESCRIPTION: string =
  "Report how the current task went and which recalled memories helped or misled, by their handles. " +
  "Call it once, when the result is known.";

/** A model's report in the shape of the schema, and one sentence for each field that was left out. */
export interface RepairedReport {
  readonly input: ReportedOutcome;
  readonly problems: readonly string[];
}

/** A model's note as the engine accepts it. */
export function cutNote(note: string): string {
  return note.slice(0, MAX_NOTE).toWellFormed();
}

/** The input that a model gave a tool: its fields, none where it is no object. */
export function fieldsOf(received: unknown): Record<string, unknown> {
  const isObject = typeof received === "object" && received !== null && !Array.isArray(received);
  return isObject ? (received as Record<string, unknown>) : {};
}

/** Keeps the fields that have the right type; a single handle counts as a list of one. */
export function repairReport(received: Readonly<Record<string, unknown>>): RepairedReport {
  const { success, helpful, harmful, note } = received;
  const problems: string[] = [];
  const input: Record<string, unknown> = {};
  if (typeof success === "boolean") input.success = success;
  else if (success !== undefined && success !== null) problems.push("Ignored success: it must be true or false.");
  for (const [field, value] of [
    ["helpful", helpful],
    ["harmful", harmful],
  ] as const) {
    const list = typeof value === "string" ? [value] : (value ?? []);
    if (Array.isArray(list) && list.every((name) => typeof name === "string")) input[field] = list;
    else problems.push(`Ignored ${field}: it must be a list of handles.`);
  }
  if (typeof note === "string") input.note = cutNote(note);
  return { input, problems };
}

/** An episode of a run, and the namespace that it belongs to. */
export interface EpisodeOfRun {
  readonly episode: string;
  readonly namespace: string;
}

/** The ids that one episode of a run has shown, by handle and by id. */
export interface ShownNames extends EpisodeOfRun {
  readonly shown: ReadonlyMap<string, string>;
}

/** The memories that each episode of a run has shown, in this process or before. */
export async function shownNames(engine: Engine, ofRun: readonly EpisodeOfRun[]): Promise<readonly ShownNames[]> {
  return Promise.all(
    ofRun.map(async ({ namespace, episode }) => ({
      namespace,
      episode,
      shown: namesIn(await engine.explain(episode, { namespace })),
    })),
  );
}

/** An id that looks like another memory's handle is read as the id. */
function namesIn(view: EpisodeView | undefined): ReadonlyMap<string, string> {
  const items = view?.exposures.flatMap((exposure) => exposure.items) ?? [];
  return new Map([
    ...items.map(({ id, handle }) => [handle, id] as const),
    ...items.map(({ id }) => [id, id] as const),
  ]);
}

/** A memory's name without the brackets that models copy along: `[m1]` is `m1`. */
export function bareHandle(name: string): string {
  return name.trim().replace(/^\[(.*)\]$/, "$1");
}

/** A model's votes, sorted by episode. */
export interface Votes {
  readonly byEpisode: readonly (EpisodeOfRun & {
    readonly helpful: string[];
    readonly harmful: string[];
  })[];
  /** Number of votes that count. */
  readonly counted: number;
  /** Names of memories that the run never showed. */
  readonly unknown: readonly string[];
  /** Names that were given on both sides. */
  readonly contradictory: readonly string[];
}

/** Finds the episode that showed each handle or id; the first one where several did. */
export async function sortVotes(
  engine: Engine,
  ofRun: readonly EpisodeOfRun[],
  { helpful = [], harmful = [] }: { readonly helpful?: readonly string[]; readonly harmful?: readonly string[] },
): Promise<Votes> {
  const episodes = await shownNames(engine, ofRun);
  const votes = [helpful, harmful].flatMap((names, side) =>
    // A model may repeat a handle without end.
    [...new Set(names)].map((name) => {
      const bare = bareHandle(name);
      const shownBy = episodes.find(({ shown }) => shown.has(bare));
      return { name, helps: side === 0, episode: shownBy?.episode, id: shownBy?.shown.get(bare) };
    }),
  );
  const known = votes.filter(({ id }) => id !== undefined);
  // A memory may be named by its handle on one side and by its id on the other.
  const contradictory = known.filter(({ helps, episode, id }) =>
    known.some((other) => other.helps !== helps && other.episode === episode && other.id === id),
  );
  const counted = known.filter((vote) => !contradictory.includes(vote));
  const idsOf = (episode: string, helps: boolean): string[] => {
    const side = counted.filter((vote) => vote.episode === episode && vote.helps === helps);
    return [...new Set(side.map(({ id }) => id as string))];
  };
  const byEpisode = episodes.map(({ episode, namespace }) => ({
    episode,
    namespace,
    helpful: idsOf(episode, true),
    harmful: idsOf(episode, false),
  }));
  return {
    byEpisode,
    counted: byEpisode.reduce((sum, votes) => sum + votes.helpful.length + votes.harmful.length, 0),
    unknown: [...new Set(votes.filter(({ id }) => id === undefined).map(({ name }) => name))],
    contradictory: [...new Set(contradictory.map(({ name }) => name))],
  };
}

/**
 * Records an agent's report about its own run, tier `self-reported`, and returns a sentence for the model. Handles that the model
 * made up are ignored and named; the rest of the report counts.
 *
 * @param ofRun The run's episodes.
 * @param callId Id of the tool call: a repeated id is the same report.
 * @throws the engine's codes
 */
export async function recordAgentReport(
  engine: Engine,
  ofRun: readonly EpisodeOfRun[],
  { success, note = "", ...named }: ReportedOutcome,
  callId: string | undefined,
): Promise<string> {
  if (ofRun.length === 0) return "Nothing was recorded: no memory was recalled in this run.";
  const votes = await sortVotes(engine, ofRun, named);
  if (success === undefined && votes.counted === 0) {
    return `Nothing was recorded: say whether the task succeeded, or name recalled memories.${ignoredNames(votes)}`;
  }
  for (const { episode, namespace, helpful, harmful } of votes.byEpisode) {
    if (success === undefined && helpful.length + harmful.length === 0) continue;
    await engine.report(
      episode,
      {
        tier: "self-reported",
        reward: success ?? null,
        helpful,
        harmful,
        note,
        ...(callId === undefined ? {} : { idempotencyKey: `tool:${episode}:${callId}` }),
      },
      { namespace },
    );
  }
  return `Recorded.${ignoredNames(votes)}`;
}

function ignoredNames({ unknown, contradictory }: Votes): string {
  const parts = [
    unknown.length === 0 ? "" : ` Ignored ${unknown.join(", ")}: not shown in this run.`,
    contradictory.length === 0 ? "" : ` Ignored ${contradictory.join(", ")}: named both as helpful and as harmful.`,
  ];
  return parts.join("");
}
