import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { deserialize, serialize } from "node:v8";

/** Folder of results that take long to compute; may be deleted at any time. */
export const CACHE_FOLDER: string = fileURLToPath(new URL("../../.cache/", import.meta.url));

const DIGEST_BYTES = 32;
/** Part of every name. A new layout of the files has a new number, so the old files stay unread. */
const LAYOUT = 3;

export interface Kept<T> {
  readonly folder: string;
  /** Begins the file's name. */
  readonly kind: string;
  /** Everything that the result depends on; JSON-safe. */
  readonly key: unknown;
  /** Plain data and typed arrays. */
  readonly compute: () => T;
}

/**
 * A computed value, kept in a file that is named by the hash of its key and begins with the hash of its content. A missing or damaged
 * file means computing again; a folder that cannot be written means computing again next time.
 */
export async function keptOnDisk<T>({ folder, kind, key, compute }: Kept<T>): Promise<T> {
  const name = sha256(JSON.stringify([LAYOUT, key]))
    .toString("hex")
    .slice(0, 32);
  const path = `${folder}/${kind}-${name}.bin`;
  const kept = await readFile(path).then(decode<T>, () => undefined);
  if (kept !== undefined) return kept;
  const value = compute();
  await keep(folder, path, serialize(value)).catch(() => undefined);
  return value;
}

async function keep(folder: string, path: string, body: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Written aside and renamed: a reader never sees half a file, and two writers write the same bytes.
  const aside = `${path}.${randomUUID()}`;
  await writeFile(aside, [sha256(body), body]);
  await rename(aside, path);
}

/** The content behind the digest; undefined when the digest is of other content. */
function decode<T>(bytes: Buffer): T | undefined {
  const body = bytes.subarray(DIGEST_BYTES);
  return sha256(body).equals(bytes.subarray(0, DIGEST_BYTES)) ? (deserialize(body) as T) : undefined;
}

function sha256(content: string | Uint8Array): Buffer {
  return createHash("sha256").update(content).digest();
}
