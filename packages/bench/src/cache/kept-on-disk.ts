import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Where this package keeps what takes long to compute; may be deleted at any time. */
export const CACHE_FOLDER: string = fileURLToPath(new URL("../../.cache/", import.meta.url));

const DIGEST_BYTES = 32;
/** Part of every name: another way to write files is another number, and leaves the old files unread. */
const LAYOUT = 2;

export interface Kept<T> {
  readonly folder: string;
  /** Begins the file's name. */
  readonly kind: string;
  /** Everything that the result depends on; JSON-safe. */
  readonly key: unknown;
  readonly encode: (value: T) => Uint8Array;
  /** `body` begins at a multiple of 8 in its buffer. */
  readonly decode: (body: Uint8Array) => T;
  readonly compute: () => T | Promise<T>;
}

/**
 * A computed value, kept in a file that is named by the hash of its key and begins with the hash of its content. A missing or damaged
 * file means computing again; a folder that cannot be written means computing again next time.
 */
export async function keptOnDisk<T>({ folder, kind, key, encode, decode, compute }: Kept<T>): Promise<T> {
  const name = createHash("sha256")
    .update(JSON.stringify([LAYOUT, key]))
    .digest("hex")
    .slice(0, 32);
  const path = `${folder}/${kind}-${name}.bin`;
  const body = await readFile(path).then(checked, () => undefined);
  if (body) return decode(body);
  const value = await compute();
  await keep(folder, path, encode(value)).catch(() => undefined);
  return value;
}

async function keep(folder: string, path: string, body: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Written aside and renamed: a reader never sees half a file, and two writers write the same bytes.
  const aside = `${path}.${randomUUID()}`;
  await writeFile(aside, [createHash("sha256").update(body).digest(), body]);
  await rename(aside, path);
}

/** What stands behind the digest, copied to an aligned start; undefined when the digest is of something else. */
function checked(bytes: Buffer): Uint8Array | undefined {
  const digest = createHash("sha256").update(bytes.subarray(DIGEST_BYTES)).digest();
  if (!digest.equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
  return new Uint8Array(bytes.subarray(DIGEST_BYTES));
}
