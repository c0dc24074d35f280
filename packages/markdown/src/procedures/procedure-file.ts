import { hashOf } from "../lesson-record.js";
import { type FrontMatter, readFrontMatter } from "./front-matter.js";
import { COMMA } from "./keywords.js";

/** Folders of procedures and skills, below the root. */
export const PROCEDURE_FILES = [
  "procedures/**/*.md",
  "{skills,common_skills}/*.md",
  "{skills,common_skills}/*/SKILL.md",
] as const;

export type ProcedureKind = "procedure" | "skill";

/** A flaw of a file. Its text can be found and loaded in any case. */
export interface ProcedureFinding {
  readonly code: keyof typeof FINDINGS;
  readonly message: string;
}

/** Flaws of a file, each with its sentence. */
const FINDINGS = {
  NO_FRONT_MATTER: "The file has no front matter.",
  FRONT_MATTER_UNREADABLE: "The front matter cannot be read, so its fields do not count.",
  NO_DESCRIPTION: "The description is missing; the words of the file name stand for it.",
  FIELD_NOT_ALLOWED: "Agent Skills allow name, description, license, compatibility, metadata and allowed-tools only.",
  FIELD_INVALID: "A field does not have the form that Agent Skills ask for.",
} as const;

/** Counts that a file states. Anybody can write them, so nothing is ranked by them. */
export interface StatedCounts {
  readonly successes: number;
  readonly failures: number;
  /** In [0, 1]. */
  readonly confidence: number;
  readonly version: number;
}

/** A file as it is read. */
export interface ProcedureText {
  /** `procedure:`, `skill:` or `common-skill:`, and the path below that folder without `.md` or `/SKILL.md`. */
  readonly id: string;
  readonly kind: ProcedureKind;
  /** From the root, with `/`. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  /** The text behind the front matter, unchanged. */
  readonly body: string;
  readonly tags: readonly string[];
  /** Hex. Changes with description and body, whatever else is in the file. */
  readonly version: string;
  readonly stated: StatedCounts;
  readonly findings: readonly ProcedureFinding[];
}

/** Digits of a version: two of a million texts share one with a probability of 1 in 500. */
export const VERSION_DIGITS = 12;

const FOLDERS: Readonly<Record<string, string>> = {
  procedures: "procedure",
  skills: "skill",
  common_skills: "common-skill",
};

/** The id of a file; each path has one of its own. */
export function idOf(path: string): string {
  const [folder = "", ...rest] = path.split("/");
  const below = rest.join("/");
  const prefix = FOLDERS[folder] as string;
  if (prefix === "procedure") return `${prefix}:${below.slice(0, -".md".length)}`;
  return `${prefix}:${below.endsWith("/SKILL.md") ? below.slice(0, -"/SKILL.md".length) : below}`;
}

/** An id that a procedure may have: no path out of the folders, no hidden name, no sign that some system reads as part of a path. */
export function isPossibleId(id: unknown): id is string {
  if (typeof id !== "string" || id.length > 512 || !id.isWellFormed()) return false;
  if (/%[0-9A-F]{2}/i.test(id)) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused here
  const [, below] = /^(?:procedure|skill|common-skill):([^\\:\u0000-\u001f\u007f]+)$/.exec(id) ?? [];
  return below?.split("/").every((name) => /^[^.\s].*$/.test(name) && !/[.\s]$/.test(name)) ?? false;
}

export function parseProcedure(path: string, source: string): ProcedureText {
  const matter = readFrontMatter(source);
  const { fields, body } = matter;
  const id = idOf(path);
  const kind = id.startsWith("procedure:") ? "procedure" : "skill";
  const ownName = nameOf(path);
  const name = textIn(fields.get("name")) ?? ownName;
  const described = textIn(fields.get("description"));
  const description = described ?? wordsOfName(ownName);
  return {
    id,
    kind,
    path,
    name,
    description,
    body,
    tags: tagsIn(fields),
    version: hashOf(`${description}\n${body}`).slice(0, VERSION_DIGITS),
    stated: statedIn(fields),
    findings: findingsIn(matter, path),
  };
}

function nameOf(path: string): string {
  const parts = path.split("/");
  const last = parts.at(-1) as string;
  return last === "SKILL.md" ? (parts.at(-2) as string) : last.replace(/\.md$/, "");
}

/** `chatwork-monitoring_flow` as "chatwork monitoring flow". */
function wordsOfName(name: string): string {
  return name.replace(/[-_.\s]+/g, " ").trim() || name;
}

function textIn(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.replace(/\s+/g, " ").trim();
  return text === "" ? undefined : text;
}

/** A list or a text with commas, at the top level or under `metadata`. */
function tagsIn(fields: ReadonlyMap<string, unknown>): string[] {
  const metadata = fields.get("metadata");
  const tags = fields.get("tags") ?? (metadata instanceof Map ? metadata.get("tags") : undefined);
  const list = Array.isArray(tags) ? tags : typeof tags === "string" ? tags.split(COMMA) : [];
  return list.flatMap((tag) => textIn(tag) ?? []);
}

/** Counts as the design wrote them at the top level, or as `stamp` writes them. Values of another type or range are the defaults. */
function statedIn(fields: ReadonlyMap<string, unknown>): StatedCounts {
  const metadata = fields.get("metadata");
  const of = (field: string, most: number, byDefault: number, isWhole: boolean): number => {
    const stamped = metadata instanceof Map ? metadata.get(`qavr-${field.replaceAll("_", "-")}`) : undefined;
    const value = stamped ?? fields.get(field);
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    const isLegal =
      typeof number === "number" && number >= 0 && number <= most && (!isWhole || Number.isInteger(number));
    return isLegal ? number : byDefault;
  };
  return {
    successes: of("success_count", Number.MAX_SAFE_INTEGER, 0, true),
    failures: of("failure_count", Number.MAX_SAFE_INTEGER, 0, true),
    confidence: of("confidence", 1, NO_CONFIDENCE, false),
    version: of("version", Number.MAX_SAFE_INTEGER, 1, true),
  };
}

/** Confidence without an outcome. */
const NO_CONFIDENCE = 0.5;

/** `round(s / (s + f), 2)`, and 0.5 without outcomes. */
export function confidenceOf(successes: number, failures: number): number {
  const all = successes + failures;
  return all === 0 ? NO_CONFIDENCE : Math.round((100 * successes) / all) / 100;
}

/** Fields of a SKILL.md. */
export const SKILL_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
]);
const NAME = /^(?!.*--)[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}[\p{L}\p{N}])?$/u;

function findingsIn({ close, fields, problem }: FrontMatter, path: string): ProcedureFinding[] {
  const found = (code: keyof typeof FINDINGS, what = ""): ProcedureFinding => ({
    code,
    message: [FINDINGS[code], what].filter(Boolean).join(" "),
  });
  if (close === "") return [found("NO_FRONT_MATTER"), found("NO_DESCRIPTION")];
  if (problem !== undefined) return [found("FRONT_MATTER_UNREADABLE", `Problem: ${problem}.`), found("NO_DESCRIPTION")];
  const findings: ProcedureFinding[] = [];
  if (textIn(fields.get("description")) === undefined) findings.push(found("NO_DESCRIPTION"));
  if (path.endsWith("/SKILL.md")) {
    const others = [...fields.keys()].filter((field) => !SKILL_FIELDS.has(String(field)));
    if (others.length > 0) findings.push(found("FIELD_NOT_ALLOWED", `Found: ${others.join(", ")}.`));
    findings.push(...fieldProblems(fields, nameOf(path)).map((what) => found("FIELD_INVALID", what)));
  }
  return findings;
}

/** Rules of Agent Skills for the fields of a SKILL.md, by the folder that it is in. */
function fieldProblems(fields: ReadonlyMap<string, unknown>, folder: string): string[] {
  const name = fields.get("name");
  const isName = typeof name === "string" && NAME.test(name) && name === name.toLowerCase();
  const is = (field: string, test: (value: unknown) => boolean): boolean =>
    !fields.has(field) || test(fields.get(field));
  const isText = (most: number) => (value: unknown) => typeof value === "string" && value.length <= most;
  return [
    isName && name.normalize("NFKC") === folder.normalize("NFKC")
      ? ""
      : "name must be that of the folder: at most 64 lower-case letters, digits and single hyphens.",
    is("description", isText(1_024)) ? "" : "description must be a text of at most 1,024 characters.",
    is("compatibility", isText(500)) ? "" : "compatibility must be a text of at most 500 characters.",
    is("metadata", (value) => value instanceof Map && [...value.values()].every((entry) => typeof entry === "string"))
      ? ""
      : "metadata must be a map of strings.",
  ].filter(Boolean);
}
