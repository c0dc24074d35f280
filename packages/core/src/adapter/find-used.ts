import type { UsedMemory, UseFinder } from "../engine/types.js";
import { findQuotes } from "./quotes.js";

/** A memory as the model of a run could read it. */
export interface ReadMemory {
  readonly id: string;
  /** Short name: `m1`. Empty for none. */
  readonly handle: string;
  /** Undefined where it is not known: such a memory can be cited or called by its id, not quoted. */
  readonly text: string | undefined;
}

/**
 * A tool call of a run or the result of one, in the order of the run: plain data, or its JSON. Calls of the memory's own tools are left
 * out, with their results.
 */
export type ToolStep = { readonly tool: string; readonly input: unknown } | { readonly result: unknown };

/** Characters of a call's input that is kept while its run waits: names and paths are shorter, and many runs may wait. */
const LONGEST_INPUT = 1_000;

/** The input of a call for a run that waits; undefined for a long one. */
export function shortInput(input: unknown): unknown {
  const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
  return text.length > LONGEST_INPUT ? undefined : input;
}

/** The texts of a finished run. */
export interface RunTexts {
  readonly memories: readonly ReadMemory[];
  /** All requests, history included. Text that stands here is never taken for a memory's. */
  readonly request: string;
  readonly steps: readonly ToolStep[];
  /** The final answer; empty for none. */
  readonly answer: string;
}

/** One or more handles in brackets: `[m1]`, `[m1, m2]`. Behind a letter, a digit or a bracket of code it is an index. */
const CITATION = /(?<![\w$)])\[\s*(m[1-9]\d{0,5}(?:\s*[,;]\s*m[1-9]\d{0,5})*)\s*\]/g;
/** Code, in which `[m1]` means something else. */
const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/**
 * The memories whose use a run's texts prove; undefined when they prove none. Precise rather than complete: a memory that was
 * followed in other words is not found. So undefined means unknown, not unused.
 *
 * - `citation`: its handle stands in the answer in brackets, outside code, and names no other memory
 * - `skill`: it describes a tool (`name: description`, the name is its id) that was called; or a tool with "skill" in its name that does not search, or one that reads a
 *   `SKILL.md`, was called with its id, its front matter's name, or a path that ends in one of them
 * - `argument`: a tool call holds a value or a passage of this memory alone
 * - `quote`: the answer holds a value or a passage of this memory alone
 *
 * A value is a code with five digits or more, a number of eight, an address or a path; a passage has 64 characters or more
 * ({@link findQuotes}).
 *
 * Text that also stands in the request or in an earlier tool's result counts for nothing, since the model may have it from there.
 */
export function findUsed({ memories, request, steps, answer }: RunTexts): UsedMemory[] | undefined {
  const used = new Map<string, UseFinder>();
  const add = (by: UseFinder, ids: Iterable<string>): void => {
    for (const id of ids) if (!used.has(id)) used.set(id, by);
  };
  const texts = distinct(memories);
  const read = [request];
  add("citation", cited(answer, memories, [request, ...texts.map(({ text }) => text)]));
  for (const step of steps) {
    if ("result" in step) {
      read.push(stringsIn(parsed(step.result)).join("\n"));
      continue;
    }
    const values = stringsIn(parsed(step.input));
    add("skill", loaded(step.tool, values, memories));
    add("argument", given(values, texts, read));
    add("argument", findQuotes(values.join("\n"), texts, read));
  }
  add("quote", given([answer], texts, read));
  add("quote", findQuotes(answer, texts, read));
  return used.size === 0 ? undefined : [...used].map(([id, by]) => ({ id, by }));
}

/** A memory with a text. */
interface Text {
  readonly id: string;
  readonly text: string;
}

/** Each memory once: the same one may have been shown twice. */
function distinct(memories: readonly ReadMemory[]): Text[] {
  const texts = new Map(memories.flatMap(({ id, text }) => (text === undefined ? [] : [[id, text] as const])));
  return [...texts].map(([id, text]) => ({ id, text }));
}

/** False for a run that surely neither cites a memory nor calls one by its id. */
export function mayName({ answer, steps }: Pick<RunTexts, "answer" | "steps">): boolean {
  return steps.length > 0 || answer.search(CITATION) >= 0;
}

/** @param elsewhere Texts that may hold such brackets themselves, as a unit or an index: these then cite nothing. */
function cited(answer: string, memories: readonly ReadMemory[], elsewhere: readonly string[]): string[] {
  return handlesIn(answer.replace(CODE, " ")).flatMap((handle) => {
    const ids = new Set(memories.filter((memory) => memory.handle === handle).map(({ id }) => id));
    return ids.size === 1 && !elsewhere.some((text) => text.includes(`[${handle}]`)) ? [...ids] : [];
  });
}

function handlesIn(text: string): string[] {
  return [...text.matchAll(CITATION)].flatMap(([, handles = ""]) =>
    handles.split(/[,;]/).map((handle) => handle.trim()),
  );
}

/** The path of a skill's file; its folder is the skill's name. */
const SKILL_FILE = /(?:^|[\\/])([^\\/]+)[\\/]SKILL\.md$/;
/** The line with the name in the front matter of a skill or lesson. Strangers write such texts: no part of it can match in two ways. */
const FRONT_MATTER_NAME = /^---\s(?:[^\n]*\n)*?name:([^\n]*)/;

function nameIn(text: string): string {
  const [, name = ""] = FRONT_MATTER_NAME.exec(text) ?? [];
  return name.trim().replace(/^["']|["']$/g, "");
}

function loaded(tool: string, values: readonly string[], memories: readonly ReadMemory[]): string[] {
  const files = values.flatMap((value) => (SKILL_FILE.exec(value) ?? []) as readonly string[]);
  const loads = /skill/i.test(tool) && !/search/i.test(tool);
  const names = new Set([...files, ...(loads ? values.flatMap((value) => [value, lastOf(value)]) : [])]);
  names.delete("");
  return memories
    .filter(
      ({ id, text = `${id}: ` }) =>
        names.has(id) || (id === tool && text.startsWith(`${id}: `)) || names.has(nameIn(text)),
    )
    .map(({ id }) => id);
}

/** The last part of a path: a skill is named after its folder. */
function lastOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** A run of characters in which a value may stand, without the punctuation around it. */
const TOKEN = /(?<![\w.~/])[\w/~][\w/~#@.:+=%&?-]{4,}[\w/=]/g;
const DATE = /^\d{4}[-/.]\d\d?[-/.]\d\d?|^\d\d?[-/.]\d\d?[-/.]\d{4}/;
/** An address, a path from the root, or a host of three names. */
const PLACE = /@[^@.]+\.|:\/\/|^~?\/[^/]+\/|\w\.[\w-]+\.[a-z]{2}/;

/** True for a token that hardly stands in two texts by chance: letters with five digits or more, eight digits, or a place. */
function isDistinctive(token: string): boolean {
  if (PLACE.test(token)) return true;
  const digits = token.replaceAll(/\D/g, "").length;
  return digits >= (/[a-z]/i.test(token) ? 5 : 8) && !DATE.test(token);
}

/** Most texts hold no such token, and this sees it soonest. */
const HINT = /@|:\/\/|\/[^\s/]+\/|\d\S*\d\S*\d\S*\d\S*\d|\.[^\s.]+\./;

function given(values: readonly string[], texts: readonly Text[], read: readonly string[]): string[] {
  const found = values.flatMap((value) => (HINT.test(value) ? (value.match(TOKEN) ?? []) : []));
  const tokens = new Set(found.filter(isDistinctive));
  return [...tokens].flatMap((token) => {
    const holders = texts.filter(({ text }) => holds(text, token));
    return holders.length === 1 && !read.some((text) => text.includes(token)) ? holders.map(({ id }) => id) : [];
  });
}

/** True when the token stands in the text as a whole, not as a part of a longer one. */
function holds(text: string, token: string): boolean {
  for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1)) {
    const around = `${text[at - 1] ?? " "}${text[at + token.length] ?? " "}`;
    if (!/\w/.test(around)) return true;
  }
  return false;
}

function parsed(input: unknown): unknown {
  if (typeof input !== "string" || !/^\s*[[{]/.test(input)) return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** Levels of lists and objects in which text is looked for: a result may be circular. */
const DEPTH = 8;

/** Every string of plain data, numbers as text. */
function stringsIn(value: unknown, depth: number = DEPTH): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  const isPlain = Array.isArray(value) || (value && Object.getPrototypeOf(value) === Object.prototype);
  return isPlain && depth > 0 ? Object.values(value).flatMap((part) => stringsIn(part, depth - 1)) : [];
}
