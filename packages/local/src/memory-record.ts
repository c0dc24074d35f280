import { QavrError } from "@qavr/core";
import { textId } from "@qavr/core/adapter";
import { assertName, type FieldRule, type FieldRules, illegalOption, resolveOptions } from "@qavr/core/store";

/** A value of a memory's metadata. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Facts about a memory, such as its agent or its source. */
export type Metadata = Readonly<Record<string, JsonValue>>;

/** A memory to add. */
export interface NewMemory {
  /** Replaces the memory with this id. @default a hash of the text, so that the same text is one memory */
  readonly id?: string | undefined;
  /** 1 to 1,000,000 characters, not only spaces. */
  readonly text: string;
  /** The task that led to it, in which searches look besides the text: a memory is wanted again in the words of a task. @default none */
  readonly query?: string | undefined;
  /** An object that JSON keeps, of at most 1,000 levels. @default {} */
  readonly metadata?: Metadata | undefined;
  /** Unix ms. @default that of the replaced memory, else now */
  readonly createdAt?: number | undefined;
}

/** A memory of a collection. */
export interface StoredMemory {
  readonly id: string;
  readonly text: string;
  /** The task that led to it; absent where none was given. */
  readonly query?: string;
  readonly metadata: Metadata;
  /** Unix ms. */
  readonly createdAt: number;
  /** Unix ms; absent unless archived. */
  readonly archivedAt?: number;
}

/** Values that a memory's metadata must have. Equality only: strings, finite numbers, booleans and null. */
export type MemoryFilter = Readonly<Record<string, string | number | boolean | null>>;

/** A memory as it is written. */
export interface CheckedMemory {
  readonly id: string;
  readonly text: string;
  readonly query: string | undefined;
  /** JSON. */
  readonly metadata: string;
  /** Undefined for that of the replaced memory, else now. */
  readonly createdAt: number | undefined;
}

/** Most characters of a text. */
const TEXT_LENGTH = 1_000_000;
/** Most levels of metadata that SQLite reads: one memory with more would break each search with a filter. */
const DEEPEST = 1_000;

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const METADATA: FieldRule = [isObject, "an object"];
const TIME: FieldRule = [(value) => Number.isFinite(value), "Unix ms"];
const TEXT: FieldRule = [(value) => typeof value === "string" && value.trim() !== "", "a string that is not empty"];

const FIELDS: FieldRules<NewMemory> = {
  id: true,
  text: TEXT,
  query: TEXT,
  metadata: METADATA,
  createdAt: TIME,
};

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function checkedMemory(given: string | NewMemory): CheckedMemory {
  if (typeof given !== "string" && !isObject(given)) {
    throw illegalOption("memories", "add() takes texts, or objects: { id, text, metadata }", given);
  }
  const named = typeof given === "string" ? { text: given } : given;
  const { text, query, metadata, createdAt, id } = resolveOptions("add()", named, { metadata: {} }, FIELDS, ["text"]);
  assertTextLength(text);
  if (query !== undefined) assertTextLength(query);
  const own = id === undefined ? textId(text) : id;
  assertName(own, "memory id");
  return { id: own, text, query, metadata: toJson(metadata), createdAt };
}

/** The parts of a memory in which searches look. */
export interface Searched {
  readonly text: string;
  readonly query?: string | undefined;
}

/** Both as one text. */
export function searchedText({ text, query }: Searched): string {
  return query === undefined ? text : `${query}\n${text}`;
}

/** The part of a memory that an update replaces. */
export type MemoryChange = Pick<NewMemory, "metadata"> & { readonly text?: string | undefined };

const CHANGES: FieldRules<MemoryChange> = { text: TEXT, metadata: METADATA };

/** @throws INVALID_ARGUMENT, LIMIT_EXCEEDED */
export function checkedChange(given: MemoryChange): { readonly text?: string; readonly metadata?: string } {
  const { text, metadata } = resolveOptions("update()", given, {}, CHANGES);
  if (text !== undefined) assertTextLength(text);
  return {
    ...(text === undefined ? {} : { text }),
    ...(metadata === undefined ? {} : { metadata: toJson(metadata) }),
  };
}

/** The filter as JSON. @throws INVALID_ARGUMENT */
export function checkedFilter(filter: MemoryFilter | undefined): string | undefined {
  if (filter === undefined) return undefined;
  const isScalar = (value: unknown): boolean =>
    value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  if (!isObject(filter) || !Object.values(filter).every(isScalar)) {
    const rule =
      "filter must be an object of strings, finite numbers, booleans or null: metadata is compared by equality";
    throw illegalOption("filter", rule, filter);
  }
  return JSON.stringify(filter);
}

/** @throws INVALID_ID, LIMIT_EXCEEDED, INVALID_ARGUMENT */
export function checkedIds(ids: string | readonly string[]): readonly string[] {
  const list = typeof ids === "string" ? [ids] : ids;
  if (!Array.isArray(list)) throw illegalOption("ids", "ids must be an id or a list of ids", ids);
  for (const id of list) assertName(id, "memory id");
  return list;
}

function assertTextLength(text: string): void {
  if (text.length <= TEXT_LENGTH) return;
  throw new QavrError(
    "LIMIT_EXCEEDED",
    `A memory's text has ${text.length} characters; at most ${TEXT_LENGTH} are kept. Split it into several memories.`,
    { details: { length: text.length, limit: TEXT_LENGTH } },
  );
}

function toJson(metadata: unknown): string {
  const says = "The metadata of a memory must be an object that JSON keeps.";
  let json: string | undefined;
  try {
    json = JSON.stringify(metadata);
  } catch (cause) {
    throw new QavrError("INVALID_ARGUMENT", says, { cause });
  }
  // A Date and a URL become texts.
  if (!json?.startsWith("{")) throw new QavrError("INVALID_ARGUMENT", says);
  if (isWithin(DEEPEST, JSON.parse(json))) return json;
  throw new QavrError("INVALID_ARGUMENT", `The metadata of a memory must have at most ${DEEPEST} levels.`);
}

/** True unless a value has more levels of lists and objects. */
function isWithin(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isWithin(levels - 1, part));
}
