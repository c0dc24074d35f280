import { type Document, isMap, isNode, isPair, isScalar, parseDocument } from "yaml";

/** A Markdown text in its parts. Their sum is the text. */
export interface FrontMatterParts {
  /** Byte order mark and first fence; empty without front matter, but for the byte order mark. */
  readonly open: string;
  /** YAML between the fences. */
  readonly yaml: string;
  /** Last fence with its line end. */
  readonly close: string;
  /** All behind it. */
  readonly body: string;
}

/** The fields of a front matter. */
export interface FrontMatter extends FrontMatterParts {
  /** Undefined without front matter, and where it could not be read. */
  readonly document: Document | undefined;
  /** Fields of the top level. A map, so that no key of a file reaches a prototype. */
  readonly fields: ReadonlyMap<string, unknown>;
  /** Why the fields could not be read; undefined where they could. */
  readonly problem: string | undefined;
}

/** Most bytes between the fences. */
const MOST_BYTES = 16_384;
/** Most characters that can begin an entry of YAML: each key has one. Some checks of the parser take the square of their number. */
const MOST_ENTRIES = 512;
/** Most levels of brackets or indentation. */
const DEEPEST = 64;

const FENCED = /^(\uFEFF?---[ \t]*\r?\n)([\s\S]*?)(?<=\n)(---[ \t]*(?:\r?\n|$))/;

/** Splits a Markdown text. Fences are lines of three dashes alone; the first one is the first line. */
export function splitFrontMatter(text: string): FrontMatterParts {
  const [all, open, yaml, close] = FENCED.exec(text) ?? [];
  if (all === undefined || open === undefined || yaml === undefined || close === undefined) {
    const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    return { open: bom, yaml: "", close: "", body: text.slice(bom.length) };
  }
  return { open, yaml, close, body: text.slice(all.length) };
}

/** Reads the front matter of a Markdown text. Size and shape are checked before the parser sees it. Tags, aliases and merge keys are refused. */
export function readFrontMatter(text: string): FrontMatter {
  const parts = splitFrontMatter(text);
  const none = { ...parts, document: undefined, fields: new Map<string, unknown>() };
  if (parts.close === "") return { ...none, problem: undefined };
  const tooLarge = sizeProblem(parts.yaml);
  if (tooLarge !== undefined) return { ...none, problem: tooLarge };
  try {
    const document = parseDocument(parts.yaml, { logLevel: "silent", prettyErrors: false, resolveKnownTags: false });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem) return { ...none, problem: `it is no plain YAML: ${firstLine(problem.message)}` };
    if (document.contents === null) return { ...parts, document, fields: new Map(), problem: undefined };
    if (!isMap(document.contents)) return { ...none, problem: "it is no list of fields" };
    // A date of YAML 1.1 and a merge key are plain values in YAML 1.2. No alias is followed.
    const fields = document.toJS({ mapAsMap: true, maxAliasCount: 0 }) as Map<string, unknown>;
    return { ...parts, document, fields, problem: undefined };
  } catch (error) {
    return { ...none, problem: `it is no plain YAML: ${firstLine(error instanceof Error ? error.message : "")}` };
  }
}

function sizeProblem(yaml: string): string | undefined {
  if (Buffer.byteLength(yaml) > MOST_BYTES) return `it has more than ${MOST_BYTES} bytes`;
  if ((yaml.match(/[:,\n]/g)?.length ?? 0) > MOST_ENTRIES) return `it has more than ${MOST_ENTRIES} entries`;
  const deepest = Math.max(0, ...yaml.split("\n").map(depthOf));
  return deepest > DEEPEST ? `it is nested more than ${DEEPEST} levels deep` : undefined;
}

/** An upper bound of the levels that a line opens: two spaces, a bracket, a dash or a question mark each may. */
function depthOf(line: string): number {
  const lead = /^[ \-?]*/.exec(line)?.[0] ?? "";
  return lead.length / 2 + (line.match(/[[{]/g)?.length ?? 0);
}

function firstLine(message: string): string {
  return message.split("\n")[0] ?? "";
}

/** A number as the file has it, since the version 1.10 is not 1.1; undefined for any other value. */
export function writtenNumber(document: Document | undefined, path: readonly (string | number)[]): string | undefined {
  const node = document?.getIn(path, true);
  return isScalar(node) && typeof node.value === "number" ? node.source : undefined;
}

/** The text with a field of the top level written, and all other characters as they were; undefined where the front matter cannot be read. */
export function withField(text: string, name: string, value: string): string | undefined {
  return edited(text, (document, yaml, eol) => {
    const map = document?.contents;
    const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === name) : undefined;
    if (isScalar(pair?.value) && pair.value.range) return replaced(yaml, pair.value.range, quotedYaml(value), eol);
    if (pair) return undefined;
    return `${lineEnded(yaml, eol)}${name}: ${quotedYaml(value)}${eol}`;
  });
}

/** The text without a field of the top level and the comment behind it; undefined where the front matter cannot be read. */
export function withoutField(text: string, name: string): string | undefined {
  return edited(text, (document, yaml) => {
    const map = document?.contents;
    const place = isMap(map) ? map.items.findIndex(({ key }) => isScalar(key) && key.value === name) : -1;
    if (!isMap(map) || map.flow || place === -1) return undefined;
    const startOf = (item: unknown): number | undefined =>
      isPair(item) && isScalar(item.key) ? item.key.range?.[0] : undefined;
    const start = startOf(map.items[place]);
    const value = map.items[place]?.value;
    const end = isNode(value) ? value.range?.[2] : undefined;
    if (start === undefined || end === undefined) return undefined;
    return `${yaml.slice(0, start)}${yaml.slice(end)}`;
  });
}

/**
 * The text with these strings under `metadata`, and all other characters as they were. Undefined where the front matter cannot be read, or
 * `metadata` is no list of fields.
 */
export function withMetadata(text: string, values: Readonly<Record<string, string>>): string | undefined {
  // Each is put before the first one, so the last one begins.
  return Object.entries(values)
    .reverse()
    .reduce<string | undefined>(
      (before, [key, value]) => (before === undefined ? undefined : withEntry(before, key, value)),
      text,
    );
}

function withEntry(text: string, key: string, value: string): string | undefined {
  return edited(text, (document, yaml, eol) => {
    const map = document?.contents;
    const pair = isMap(map)
      ? map.items.find(({ key: name }) => isScalar(name) && name.value === "metadata")
      : undefined;
    const line = `${key}: ${quotedYaml(value)}`;
    if (!pair) return `${lineEnded(yaml, eol)}metadata:${eol}  ${line}${eol}`;
    const metadata = pair.value;
    if (!isMap(metadata)) return isEmpty(metadata) ? belowKey(yaml, pair.key, line, eol) : undefined;
    const known = metadata.items.find(({ key: name }) => isScalar(name) && name.value === key);
    if (isScalar(known?.value) && known.value.range) return replaced(yaml, known.value.range, quotedYaml(value), eol);
    if (known) return undefined;
    const [first] = metadata.items;
    if (metadata.flow) return inBraces(yaml, metadata.range?.[0], line, metadata.items.length > 0);
    const start = isScalar(first?.key) ? first.key.range?.[0] : undefined;
    if (start === undefined) return undefined;
    const lineStart = yaml.lastIndexOf("\n", start - 1) + 1;
    const indent = yaml.slice(lineStart, start);
    // Before the first entry: no comment and no block text behind the last one has to be understood.
    return `${yaml.slice(0, start)}${line}${eol}${indent}${yaml.slice(start)}`;
  });
}

function edited(
  text: string,
  edit: (document: Document | undefined, yaml: string, eol: string) => string | undefined,
): string | undefined {
  const { open, yaml, close, body, document, problem } = readFrontMatter(text);
  if (problem !== undefined) return undefined;
  const eol = /\r\n/.test(text) ? "\r\n" : "\n";
  const changed = edit(document, yaml, eol);
  if (changed === undefined) return undefined;
  const result = close === "" ? `${open}---${eol}${changed}---${eol}${body}` : `${open}${changed}${close}${body}`;
  // Fields in braces cannot be followed by lines.
  return readFrontMatter(result).problem === undefined ? result : undefined;
}

/** A value in the place of another; the range ends before its comment. */
function replaced(yaml: string, [start, end]: readonly [number, number, number], value: string, eol: string): string {
  const old = yaml.slice(start, end);
  // A block text ends behind its line end, and an empty value stands right behind the colon.
  const tail = /\r?\n$/.test(old) ? eol : "";
  const gap = start === end && /:$/.test(yaml.slice(0, start)) ? " " : "";
  return `${yaml.slice(0, start)}${gap}${value}${tail}${yaml.slice(end)}`;
}

function belowKey(yaml: string, key: unknown, line: string, eol: string): string | undefined {
  const end = isScalar(key) ? key.range?.[1] : undefined;
  if (end === undefined) return undefined;
  const next = yaml.indexOf("\n", end);
  const head = next === -1 ? lineEnded(yaml, eol) : yaml.slice(0, next + 1);
  return `${head}  ${line}${eol}${next === -1 ? "" : yaml.slice(next + 1)}`;
}

function inBraces(yaml: string, start: number | undefined, line: string, hasOthers: boolean): string | undefined {
  if (start === undefined || yaml[start] !== "{") return undefined;
  return `${yaml.slice(0, start + 1)}${line}${hasOthers ? ", " : ""}${yaml.slice(start + 1)}`;
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (isScalar(value) && value.value === null && value.source === "");
}

function lineEnded(yaml: string, eol: string): string {
  return yaml === "" || yaml.endsWith("\n") ? yaml : `${yaml}${eol}`;
}

/** A string in double quotes, which every parser of YAML reads alike. */
function quotedYaml(value: string): string {
  return JSON.stringify(value);
}
