import { readPlainFile } from "../own-folders.js";
import { readFrontMatter, withField, withMetadata, withoutField, writtenNumber } from "./front-matter.js";
import type { Procedure } from "./procedure.js";
import { parseProcedure, SKILL_FIELDS } from "./procedure-file.js";
import type { Catalogued } from "./procedure-index.js";
import type { FileReplacer } from "./replace-file.js";

/** Ids of procedures whose files were written, and of those whose files were not. */
export interface WriteReport {
  readonly written: readonly string[];
  /** Files that have those bytes already. */
  readonly unchanged: readonly string[];
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
}

const CHANGED = "The file has changed since it was read; call again.";
const UNREADABLE = "The front matter cannot be read, or metadata is no map; correct the file.";
const NO_UTF8 = "The file is not UTF-8.";

/** Writes a new text into each file, if it still has the version that is catalogued. */
export async function writeEach(
  root: string,
  entries: readonly Pick<Catalogued, "memory" | "facts">[],
  replacer: FileReplacer,
  newText: (source: string, entry: Pick<Catalogued, "memory" | "facts">) => string | undefined,
  options: { readonly dryRun?: boolean; before?(path: string, bytes: Uint8Array): Promise<unknown> } = {},
): Promise<WriteReport> {
  const written: string[] = [];
  const unchanged: string[] = [];
  const skipped: { id: string; reason: string }[] = [];
  for (const entry of entries) {
    const { procedure: id, path, version } = entry.facts;
    const bytes = await readPlainFile(root, path).catch(() => undefined);
    const source = bytes?.toString("utf8");
    const skip = (reason: string): unknown => skipped.push({ id, reason });
    if (!bytes || source === undefined || parseProcedure(path, source).version !== version) skip(CHANGED);
    else if (!Buffer.from(source).equals(bytes)) skip(NO_UTF8);
    else {
      const text = newText(source, entry);
      if (text === undefined) skip(UNREADABLE);
      else if (text === source) unchanged.push(id);
      else if (options.dryRun) written.push(id);
      else {
        await options.before?.(path, bytes);
        if (await replacer.replace(path, bytes, Buffer.from(text))) written.push(id);
        else skip(CHANGED);
      }
    }
  }
  return { written, unchanged, skipped };
}

/** The file with its counts under `metadata`, and with a name and a description where the format needs them. */
export function stamped(
  source: string,
  { path, name, description, version, successes, failures, confidence, lastShown }: Procedure,
): string | undefined {
  const whole = completed(source, { path, name, description });
  if (whole === undefined) return undefined;
  return withMetadata(whole, {
    "qavr-success-count": String(successes),
    "qavr-failure-count": String(failures),
    "qavr-confidence": String(confidence),
    ...(lastShown === undefined ? {} : { "qavr-last-shown": new Date(lastShown).toISOString() }),
    "qavr-content": version,
  });
}

/** The file with the description that was derived for it, and as a SKILL.md with its name. */
function completed(
  source: string,
  { path, name, description }: Pick<Procedure, "path" | "name" | "description">,
): string | undefined {
  const isEmpty = (text: string, field: string): boolean => {
    const value = readFrontMatter(text).fields.get(field);
    return typeof value !== "string" || value.trim() === "";
  };
  const described = isEmpty(source, "description") ? withField(source, "description", description) : source;
  if (described === undefined || !path.endsWith("/SKILL.md") || !isEmpty(described, "name")) return described;
  return withField(described, "name", name);
}

/** The file as Agent Skills have it: completed, and for a SKILL.md with its other fields as texts under `metadata`, but for names that it has. */
export function migrated(
  source: string,
  procedure: Pick<Procedure, "path" | "name" | "description">,
): string | undefined {
  let text = completed(source, procedure);
  if (!procedure.path.endsWith("/SKILL.md")) return text;
  const { fields, document } = readFrontMatter(source);
  const metadata = fields.get("metadata");
  for (const [field, value] of fields) {
    if (text === undefined || typeof field !== "string" || SKILL_FIELDS.has(field)) continue;
    // Both values are the author's, so neither takes the other's place.
    if (metadata instanceof Map && metadata.has(field)) continue;
    const without = withoutField(text, field);
    text =
      without &&
      withMetadata(without, {
        [field]: Array.isArray(value)
          ? value.map((part, i) => writtenNumber(document, [field, i]) ?? textOf(part)).join(", ")
          : (writtenNumber(document, [field]) ?? textOf(value)),
      });
  }
  return text;
}

function textOf(value: unknown): string {
  return typeof value === "object" && value !== null
    ? JSON.stringify(value, (_, part) => (part instanceof Map ? Object.fromEntries(part) : part))
    : String(value ?? "");
}
