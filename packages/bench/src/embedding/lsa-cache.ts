import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { fitLsa, type LsaModel, type LsaOptions } from "./lsa.js";

/** Raised whenever the arithmetic of {@link fitLsa} changes, so that no old model is taken for a new one. */
const FIT_VERSION = 1;
const DIGEST_BYTES = 32;

export interface LsaCacheOptions extends LsaOptions {
  /** Where fitted models are kept; may be deleted at any time. @default `.cache` in this package */
  readonly folder?: string;
}

/**
 * {@link fitLsa}, kept on disk under a hash of the texts and parameters. A missing, damaged or foreign file means fitting
 * again; a folder that cannot be written means fitting again next time.
 */
export async function cachedLsa(texts: readonly string[], options: LsaCacheOptions = {}): Promise<LsaModel> {
  const { folder = fileURLToPath(new URL("../../.cache/", import.meta.url)), onProgress: _, ...parameters } = options;
  const key = createHash("sha256")
    .update(
      JSON.stringify([
        FIT_VERSION,
        parameters.dims,
        parameters.minDocuments,
        parameters.maxFeatures,
        parameters.seed,
        texts,
      ]),
    )
    .digest("hex");
  const path = `${folder}/lsa-${key.slice(0, 32)}.bin`;
  const kept = await readFile(path).then(decode, () => undefined);
  if (kept) return kept;
  const model = fitLsa(texts, options);
  await keep(folder, path, encode(model)).catch(() => undefined);
  return model;
}

async function keep(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Written aside and renamed: a reader never sees half a file, and two writers write the same bytes.
  const aside = `${path}.${randomUUID()}`;
  await writeFile(aside, bytes);
  await rename(aside, path);
}

/** sha256 of the rest (32 bytes) · header length (uint32 LE) · header (JSON) · components (float32 LE). */
export function encode(model: LsaModel): Uint8Array {
  const { dims, words, characters, components } = model;
  const plain = (vocabulary: LsaModel["words"]): object => ({ terms: vocabulary.terms, idf: [...vocabulary.idf] });
  const header = Buffer.from(JSON.stringify({ dims, words: plain(words), characters: plain(characters) }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const body = Buffer.concat([
    length,
    header,
    Buffer.from(components.buffer, components.byteOffset, components.byteLength),
  ]);
  return Buffer.concat([createHash("sha256").update(body).digest(), body]);
}

/** The model, or undefined when the bytes are not one. */
export function decode(bytes: Buffer): LsaModel | undefined {
  const body = bytes.subarray(DIGEST_BYTES);
  const digest = createHash("sha256").update(body).digest();
  if (bytes.length < DIGEST_BYTES + 4 || !digest.equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
  const end = 4 + body.readUInt32LE(0);
  const header = JSON.parse(body.toString("utf8", 4, end)) as Record<
    "words" | "characters",
    { terms: string[]; idf: number[] }
  > & {
    dims: number;
  };
  const vocabulary = ({ terms, idf }: { terms: string[]; idf: number[] }): LsaModel["words"] => ({
    terms,
    idf: Float64Array.from(idf),
  });
  // Copied: the floats need an aligned start, which a slice of the file does not have.
  const components = new Float32Array(new Uint8Array(body.subarray(end)).buffer);
  return { dims: header.dims, words: vocabulary(header.words), characters: vocabulary(header.characters), components };
}
