import { QavrError } from "@qavr/core";
import type { Metadata } from "@qavr/local";
import { hashOf } from "../lesson-record.js";
import { readPlainFile } from "../own-folders.js";
import { splitFrontMatter, withField } from "./front-matter.js";
import type { LifecycleParts } from "./lifecycle.js";
import type { Procedure } from "./procedure.js";
import { parseProcedure, VERSION_DIGITS } from "./procedure-file.js";
import type { Catalogued } from "./procedure-index.js";
import { memoriesOf, memoryOf, toMemory, toProcedureRecord } from "./procedure-record.js";
import { type RunEvidence, runsByMemory } from "./run-evidence.js";
import { migrated } from "./stamp.js";
import { centreOf, decide, type Outcomes } from "./trial.js";

/**
 * - `revise`: it fails at its present text; with a model, a revision begins its trial
 * - `adopt`, `roll back`: the trial of a revision is decided
 * - `retire`: it fails at its present text, or has not been used for long; its file goes to the archive
 * - `promote`: a procedure has proven itself and becomes a skill
 */
export type ReviewAction = "revise" | "adopt" | "roll back" | "retire" | "promote";

/** A step that follows from the evidence. */
export interface ReviewProposal {
  readonly id: string;
  readonly action: ReviewAction;
  /** One sentence. */
  readonly reason: string;
  readonly evidence: {
    /** Of the present version. */
    readonly file: Outcomes & Pick<Procedure, "shown" | "used" | "lastShown">;
    /** Of the revision on trial. */
    readonly revision?: Outcomes;
    /** Its latest runs, oldest first. */
    readonly runs: readonly RunEvidence[];
  };
  /** True when it was carried out. */
  readonly done: boolean;
}

/** A language model: a prompt in, its answer out. */
export type AskModel = (prompt: string) => Promise<string>;

/** Rules of the review. Those with rates look at the present version only. */
const RULES = {
  reviseFailures: 2,
  reviseRate: 0.6,
  retireFailures: 3,
  retireRate: 0.3,
  unusedDays: 180,
  unusedUses: 3,
  provenSuccesses: 3,
  provenConfidence: 0.8,
  provenFailures: 1,
} as const;

const DAY = 86_400_000;
/** Most characters of a body or of reports in a prompt. */
const PROMPT_PART = 6_000;

/** The outcomes of a trial since it began. */
export interface Trial {
  readonly revision: Outcomes;
  readonly file: Outcomes;
  readonly centre: number;
}

/**
 * Begins the trial of a revised body: from now on it gets half of the episodes that the procedure is shown in.
 *
 * @throws INVALID_ARGUMENT for a body that is empty, unchanged or begins with front matter, and while another revision is on trial
 */
export async function beginTrial(
  { collection, withCounts }: LifecycleParts,
  { memory, facts }: Catalogued,
  body: string,
): Promise<string> {
  const stored = await collection.get(memory);
  const refuse = (says: string): never => {
    throw new QavrError("INVALID_ARGUMENT", `revise(): ${says}`, { details: { id: facts.procedure } });
  };
  if (typeof body !== "string" || body.trim() === "") refuse("the body must be a text that is not empty.");
  // In the file it would stand behind that of the file, or take its place.
  if (splitFrontMatter(body).close !== "") refuse("the body begins with front matter; give the text behind it alone.");
  const version = hashOf(`${facts.description}\n${body}`).slice(0, VERSION_DIGITS);
  const canary = memoryOf({ id: facts.procedure, version });
  // The same version with other line ends would be on trial against itself, for ever.
  if (!stored || stored.text === body || canary === memory) refuse("the body is the one of the file already.");
  const before = toProcedureRecord(stored as NonNullable<typeof stored>).facts;
  if (before.canary !== undefined) refuse(`${before.canary} is on trial already; wait for its verdict.`);
  const [counts] = await withCounts([{ memory, facts }]);
  const { canary: _, moved: _files, ...kept } = facts;
  const [earlier] = await withCounts([{ memory: canary, facts: kept }]);
  const { successes, failures } = counts as Procedure;
  const trial = {
    ...{ successes, failures, centre: centreOf({ successes, failures }) },
    ...{ ownSuccesses: earlier?.successes ?? 0, ownFailures: earlier?.failures ?? 0 },
  };
  // The revision first: the version in the file names it.
  await collection.add(toMemory({ body }, { ...kept, version, previous: memory, canaryOf: memory, trial }));
  await collection.update(memory, { metadata: { ...before, canary } as unknown as Metadata });
  return canary;
}

/** The trial of a procedure; undefined without one. */
async function trialOf(
  { collection, withCounts }: LifecycleParts,
  { memory, facts }: Catalogued,
): Promise<(Trial & { readonly body: string; readonly canary: string }) | undefined> {
  const inFile = await collection.get(memory);
  const canary = inFile && toProcedureRecord(inFile).facts.canary;
  const revised = canary === undefined ? undefined : await collection.get(canary);
  const begun = revised && toProcedureRecord(revised).facts.trial;
  if (canary === undefined || !revised || !begun) return undefined;
  const [file, revision] = (await withCounts([
    { memory, facts },
    { memory: canary, facts: toProcedureRecord(revised).facts },
  ])) as [Procedure, Procedure];
  const since = (counts: Outcomes, successes: number, failures: number): Outcomes => ({
    successes: Math.max(0, counts.successes - successes),
    failures: Math.max(0, counts.failures - failures),
  });
  return {
    file: since(file, begun.successes, begun.failures),
    revision: since(revision, begun.ownSuccesses, begun.ownFailures),
    ...{ centre: begun.centre, body: revised.text, canary },
  };
}

async function endTrial({ collection }: LifecycleParts, memory: string, canary: string): Promise<void> {
  const stored = await collection.get(memory);
  if (!stored) return;
  const { canary: _, ...facts } = toProcedureRecord(stored).facts;
  await collection.update(memory, { metadata: facts as unknown as Metadata });
  await collection.archive(canary);
}

/** Proposals for all procedures, carried out unless it is a dry run. */
export async function review(
  parts: LifecycleParts,
  { dryRun, model }: { readonly dryRun: boolean; readonly model: AskModel | undefined },
): Promise<ReviewProposal[]> {
  await parts.index.sync();
  const entries = [...parts.index.catalogue().values()];
  const counts = await parts.withCounts(entries);
  const runs = await runsByMemory(parts.engine, parts.namespace, new Set(entries.flatMap(memoriesOf)));
  // A namespace that nothing was shown in does not tell what is unused: runs may name others.
  const isInUse = counts.some(({ lastShown }) => lastShown !== undefined);
  const proposals: ReviewProposal[] = [];
  for (const [i, entry] of entries.entries()) {
    const procedure = counts[i] as Procedure;
    const trial = await trialOf(parts, entry);
    const step = trial ? verdictOn(trial) : await stepFor(parts, procedure, isInUse);
    if (!step) continue;
    const { successes, failures, shown, used, lastShown } = procedure;
    const known = memoriesOf(entry)
      .toReversed()
      .flatMap((id) => runs.get(id) ?? []);
    const proposal = {
      ...{ id: procedure.id, ...step },
      evidence: {
        file: {
          ...(trial?.file ?? { successes, failures }),
          shown,
          used,
          ...(lastShown === undefined ? {} : { lastShown }),
        },
        ...(trial ? { revision: trial.revision } : {}),
        runs: known,
      },
    };
    const done = !dryRun && (await carryOut(parts, entry, proposal.action, known, trial, model));
    proposals.push({ ...proposal, done });
  }
  return proposals;
}

function verdictOn(trial: Trial): Pick<ReviewProposal, "action" | "reason"> | undefined {
  const action = decide(trial.revision, trial.file, trial.centre);
  if (action === "continue") return undefined;
  const says = ({ successes, failures }: Outcomes): string => `${successes} of ${successes + failures}`;
  const reason = `The revision succeeded in ${says(trial.revision)} runs, the version in the file in ${says(trial.file)}.`;
  return { action, reason };
}

async function stepFor(
  { collection, now }: LifecycleParts,
  { id, kind, name, memory, successes, failures, used, lastShown, confidence }: Procedure,
  isInUse: boolean,
): Promise<Pick<ReviewProposal, "action" | "reason"> | undefined> {
  const all = successes + failures;
  const share = `${failures} of ${all} runs with its present text failed.`;
  if (failures >= RULES.retireFailures && successes / all < RULES.retireRate)
    return { action: "retire", reason: share };
  if (failures >= RULES.reviseFailures && successes / all < RULES.reviseRate)
    return { action: "revise", reason: share };
  const isProven =
    successes >= RULES.provenSuccesses && failures <= RULES.provenFailures && confidence >= RULES.provenConfidence;
  const since = lastShown ?? (await collection.get(memory))?.createdAt ?? now();
  const days = Math.floor((now() - since) / DAY);
  // Only evidence at the present text protects.
  if (isInUse && !isProven && days >= RULES.unusedDays && used < RULES.unusedUses) {
    const times = used === 1 ? "once" : `${used} times`;
    return { action: "retire", reason: `It was used ${times}, and not shown for ${days} days.` };
  }
  const mayBeSkill = kind === "procedure" && !id.includes("/") && skillName(name) !== "";
  if (mayBeSkill && isProven && days < RULES.unusedDays) {
    return { action: "promote", reason: `${successes} of ${all} runs with its present text succeeded.` };
  }
  return undefined;
}

async function carryOut(
  parts: LifecycleParts,
  entry: Catalogued,
  action: ReviewAction,
  runs: readonly RunEvidence[],
  trial: { readonly body: string; readonly canary: string } | undefined,
  model: AskModel | undefined,
): Promise<boolean> {
  const { root, index, replacer, archive, collection } = parts;
  const { path, version, name, description } = entry.facts;
  if (action === "roll back" && trial) {
    await endTrial(parts, entry.memory, trial.canary);
    return true;
  }
  if (action === "revise") {
    if (!model) return false;
    const stored = await collection.get(entry.memory);
    const body = revisedBody(await model(revisionPrompt(entry, stored?.text ?? "", runs)));
    if (body === undefined || hashOf(body.trim()) === hashOf(stored?.text.trim() ?? "")) return false;
    // While the model was at work, the file may have gone or changed, or another review have begun a trial.
    await index.sync();
    const isInFile = index.catalogue().get(entry.facts.procedure)?.memory === entry.memory;
    const now = isInFile ? await collection.get(entry.memory) : undefined;
    if (!now || toProcedureRecord(now).facts.canary !== undefined) return false;
    await beginTrial(parts, entry, body);
    return true;
  }
  const bytes = await readPlainFile(root, path).catch(() => undefined);
  const source = bytes?.toString("utf8");
  // Changed since the review looked at it.
  if (!bytes || source === undefined || parseProcedure(path, source).version !== version) return false;
  if (action === "retire") return archive.take(path, bytes);
  if (action === "adopt" && trial) {
    await archive.keep(path, bytes);
    const { open, yaml, close } = splitFrontMatter(source);
    const body = source.includes("\r\n") ? trial.body.replace(/\r?\n/g, "\r\n") : trial.body;
    return replacer.replace(path, bytes, Buffer.from(`${open}${yaml}${close}${body}`));
  }
  const folder = skillName(name);
  const target = `skills/${folder}/SKILL.md`;
  const moved = migrated(source, { path: target, name: folder, description });
  // Hosts of skills refuse one whose name is not that of its folder.
  const text = moved && withField(moved, "name", folder);
  if (text === undefined || !(await replacer.create(target, Buffer.from(text), path))) return false;
  return archive.take(path, bytes);
}

/** A name as skills have them; empty for one without letters and digits. */
function skillName(name: string): string {
  const plain = name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-");
  return plain.replace(/^-/, "").slice(0, 64).replace(/-$/, "");
}

function revisionPrompt(
  { facts: { name, description } }: Catalogued,
  body: string,
  runs: readonly RunEvidence[],
): string {
  const lines = runs.map(
    ({ success, note }) => `- ${success ? "succeeded" : "failed"}${note === "" ? "" : `: ${note}`}`,
  );
  return [
    "This procedure fails too often. Revise it, so that it avoids the failures and keeps what worked.",
    "Answer with the revised Markdown alone, between <procedure> and </procedure>.",
    `Name: ${name}\nDescription: ${description}`,
    `<procedure>\n${body.slice(0, PROMPT_PART)}\n</procedure>`,
    `Its latest runs:\n${lines.join("\n").slice(-PROMPT_PART)}`,
  ].join("\n\n");
}

/** The text between the marks; undefined for any other answer, so that nothing changes. */
function revisedBody(answer: unknown): string | undefined {
  const [, body] =
    /<procedure>\r?\n?([\s\S]+?)\r?\n?<\/procedure>/.exec(typeof answer === "string" ? answer : "") ?? [];
  // Some models write the whole file; its front matter stays as it is.
  const text = splitFrontMatter(body ?? "").body;
  return text.trim() === "" ? undefined : `${text.trimEnd()}\n`;
}
