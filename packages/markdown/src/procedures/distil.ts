import { rm } from "node:fs/promises";
import { QavrError } from "@qavr/core";
import { nearIdenticalTo, withinBudget } from "@qavr/core/adapter";
import { illegalOption } from "@qavr/core/store";
import { atPlace, writing } from "../own-folders.js";
import { withField } from "./front-matter.js";
import type { LifecycleParts } from "./lifecycle.js";
import type { AskModel } from "./review.js";
import { goodRuns } from "./run-evidence.js";

/** A procedure that a model wrote down from runs that went well. It waits in `.qavr/drafts` until it is accepted. */
export interface Draft {
  /** Lower-case letters, digits and hyphens; the name of its file. */
  readonly name: string;
  readonly description: string;
  readonly body: string;
}

/** Most characters of the runs in one prompt. */
const PROMPT_PART = 6_000;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** Most characters of the fields of a draft. */
const LIMITS = { name: 64, description: 1_024, body: 6_000 } as const;

/** Texts of runs, such as their transcripts; undefined for a run that has none. */
export type Transcript = (episode: string) => Promise<string | undefined> | string | undefined;

/**
 * Asks a model for procedures in the runs that went well. Drafts that are nearly the same as another, or as a procedure, are left out.
 *
 * @throws INVALID_ARGUMENT for a transcript that is no text, INVALID_MODEL_OUTPUT for an answer of another form; nothing is written then
 */
export async function distil(
  { engine, namespace, index, collection, replacer }: LifecycleParts,
  {
    model,
    since,
    transcript,
  }: { readonly model: AskModel; readonly since: number; readonly transcript: Transcript | undefined },
): Promise<Draft[]> {
  await index.sync();
  const runs = await goodRuns(engine, namespace, since);
  const texts = await Promise.all(runs.map(async ({ episode, note }) => (await transcript?.(episode)) ?? note));
  const broken = texts.find((text) => typeof text !== "string");
  if (broken !== undefined) {
    throw illegalOption(
      "transcript",
      "distil(): transcript must return a text, or undefined for a run without one",
      broken,
    );
  }
  const told = texts.filter((text) => text.trim() !== "");
  if (told.length === 0) return [];
  const found = draftsIn(await model(promptOf(told)));
  const known: string[] = [];
  for (const { memory } of index.catalogue().values()) {
    const stored = await collection.get(memory);
    if (stored) known.push(stored.text);
  }
  const fresh = found.filter((draft, i) => {
    const isNear = nearIdenticalTo(draft.body);
    return ![...known, ...found.slice(0, i).map(({ body }) => body)].some(isNear);
  });
  const drafts: Draft[] = [];
  for (const draft of fresh) {
    if (await replacer.create(`.qavr/drafts/${draft.name}.md`, Buffer.from(toFile(draft)))) drafts.push(draft);
  }
  return drafts;
}

/**
 * Makes a draft a procedure.
 *
 * @throws INVALID_ARGUMENT for a draft of another form, and where a procedure of that name is there
 */
export async function accept({ root, replacer }: LifecycleParts, draft: Draft): Promise<string> {
  const problem = problemOf(draft);
  if (problem !== undefined) throw new QavrError("INVALID_ARGUMENT", `accept(): ${problem}`);
  const path = `procedures/${draft.name}.md`;
  if (!(await replacer.create(path, Buffer.from(toFile(draft))))) {
    throw new QavrError("INVALID_ARGUMENT", `accept(): ${path} is there already. Give the draft another name.`);
  }
  const own = `.qavr/drafts/${draft.name}.md`;
  await writing(own, () => atPlace(root, own, (place) => rm(place, { force: true })));
  return `procedure:${draft.name}`;
}

function toFile({ description, body }: Draft): string {
  return withField(`${body.trimEnd()}\n`.replace(/^---/, " ---"), "description", description) as string;
}

function promptOf(texts: readonly string[]): string {
  const share = Math.max(200, Math.floor(PROMPT_PART / texts.length));
  const runs = texts.map((text, i) => `<run ${i + 1}>\n${text.slice(0, share)}\n</run ${i + 1}>`);
  // The latest ones where not all fit.
  const told = withinBudget(runs.toReversed(), 2 * PROMPT_PART, ({ length }) => length).toReversed();
  return [
    "These runs of an agent went well. Write down the procedures in them that will be needed again: steps that are not obvious, in Markdown.",
    'Answer with JSON alone: {"procedures": [{"name": "short-name", "description": "what it does and when it is needed", "body": "Markdown"}]}. An empty list is fine.',
    ...told,
  ].join("\n\n");
}

/** @throws INVALID_MODEL_OUTPUT */
function draftsIn(answer: unknown): readonly Draft[] {
  const text = typeof answer === "string" ? answer : "";
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  } catch {
    parsed = undefined;
  }
  const list = (parsed as { procedures?: unknown } | null | undefined)?.procedures;
  const problem = Array.isArray(list)
    ? list.map(problemOf).find((one) => one !== undefined)
    : "it is no object with a list procedures.";
  if (problem === undefined) return list as readonly Draft[];
  const says = `The model's answer cannot be used: ${problem} Nothing was written; try again or use another model.`;
  throw new QavrError("INVALID_MODEL_OUTPUT", says);
}

/** The first flaw of a draft, in words. */
function problemOf(draft: unknown): string | undefined {
  const { name, description, body } = (draft ?? {}) as Partial<Record<keyof Draft, unknown>>;
  const fields = { name, description, body };
  for (const [field, most] of Object.entries(LIMITS)) {
    const value = fields[field as keyof Draft];
    if (typeof value !== "string" || value.trim() === "" || value.length > most) {
      return `${field} must be a text of 1 to ${most} characters.`;
    }
  }
  return NAME.test(name as string) ? undefined : "name must be lower-case letters and digits with single hyphens.";
}
