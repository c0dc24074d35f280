import { QavrError } from "@qavr/core";
import type { Log } from "@qavr/core/adapter";
import type { SqliteFile } from "@qavr/sqlite/file";
import { dot, type Embedder, type TextEmbedding, textEmbedding } from "./embedder.js";
import type { LOCAL_LOG_CODES } from "./log-codes.js";
import { type Nearest, type VectorMatrix, vectorMatrix } from "./vector-matrix.js";
import type { VectorTables } from "./vector-tables.js";

/** A request's vector, and the space that it was compared with. */
export interface RequestVector {
  readonly values: Float32Array;
  readonly space: number;
}

/** Vectors of texts for one transaction; `space` is undefined for the first vectors of a file. */
export interface TextVectors {
  readonly space: number | undefined;
  readonly vectors: readonly (Float32Array | undefined)[];
}

/** Vectors of texts, none for those that the model refuses, and one of its errors then. */
interface Embedded {
  readonly vectors: readonly (Float32Array | undefined)[];
  readonly refusal?: unknown;
}

/** Memories near a request. */
export interface Neighbours {
  /** Best first. */
  readonly found: readonly Nearest[];
  /** Cosine of any memory, 0 for one without a vector. */
  cosineOf(memory: number): number;
  /** Forgets lost vectors, if one of these memories lost its own: its text was replaced while the model failed. True: cosines changed. */
  forgets(memories: readonly number[]): boolean;
}

/** Search by meaning in a file. */
export interface VectorSearch {
  /**
   * Embeds texts that will be written; undefined where the model failed, which is logged.
   * @throws EMBEDDING_MISMATCH
   */
  embed(texts: readonly string[]): Promise<TextVectors | undefined>;
  /**
   * The space to write vectors into, inside the transaction; undefined when another process has changed the space since they were made.
   */
  spaceFor(made: TextVectors, tables: VectorTables): number | undefined;
  /** Embeds a request and loads new vectors; undefined where the model failed, which is logged. @throws EMBEDDING_MISMATCH */
  request(text: string): Promise<RequestVector | undefined>;
  /** The memories near a request, in a transaction; undefined when the space has changed since the request was embedded. */
  nearest(
    request: RequestVector,
    tables: VectorTables,
    scope: number,
    limit: number,
    allowed: ReadonlySet<number> | undefined,
  ): Neighbours | undefined;
  /**
   * Makes the vectors that are missing, or all of them after a change of model. Returns their number.
   * @throws the model's error, also for a text that it refuses, once all others have theirs
   */
  reembed(onProgress: ((done: number, total: number) => void) | undefined): Promise<number>;
}

/** Vectors that are read, made or deleted at once. */
const PART = 256;
const PAGE = 4_096;
/** Least cosine of two vectors of one text by one model. Hosted models differ by less than 10⁻³ from call to call. */
const SAME_MODEL = 0.95;

export function vectorSearch<Tables extends { readonly vectors: VectorTables }>(
  file: SqliteFile<Tables>,
  embedder: Embedder,
  log: Log<keyof typeof LOCAL_LOG_CODES>,
): VectorSearch {
  const embedding: TextEmbedding = textEmbedding(embedder);
  /** The space that this model has been compared with. */
  let known: { readonly space: number; readonly dims: number | undefined } | undefined;
  let loaded: { readonly space: number; readonly dims: number; readonly matrix: VectorMatrix } | undefined;
  let loading: Promise<void> | undefined;

  const failed = (error: unknown): undefined => {
    const reason = QavrError.isInstance(error) ? error.message : "The embedding model failed.";
    log("warn", "EMBEDDING_FAILED", `${reason} Texts are searched by words only until it works.`, { error });
    return undefined;
  };
  /** Embeds texts, each alone where it must be, with a model that works. */
  const eachOf = async (texts: readonly string[]): Promise<Embedded> => {
    try {
      return { vectors: await embedding.documents([...texts]) };
    } catch (refusal) {
      if (texts.length === 1) return { vectors: [undefined], refusal };
      const half = texts.length >> 1;
      const first = await eachOf(texts.slice(0, half));
      const rest = await eachOf(texts.slice(half));
      return { vectors: [...first.vectors, ...rest.vectors], refusal: first.refusal ?? rest.refusal };
    }
  };
  /**
   * Embeds texts. One that the model refuses, such as one that is too long for it, has no vector and costs no other its own.
   *
   * @param known A text that the model has embedded.
   * @throws the model's error where it embeds nothing
   */
  const vectorsOf = async (texts: readonly string[], known?: string): Promise<Embedded> => {
    try {
      return { vectors: texts.length === 0 ? [] : await embedding.documents([...texts]) };
    } catch (error) {
      const shortest = texts.reduce((a, b) => (b.length < a.length ? b : a));
      if (QavrError.isInstance(error) || (known === undefined && texts.length === 1)) throw error;
      await embedding.documents([known ?? shortest]);
      return eachOf(texts);
    }
  };
  const fits = async (space: number): Promise<boolean> => {
    if (known?.space === space) return true;
    const oldest = file.read(({ vectors }) => vectors.oldest(space));
    if (oldest) {
      const [same] = (await embedding.documents([oldest.text])) as [Float32Array];
      if (
        same.length !== oldest.values.length ||
        dot(same, oldest.values) < SAME_MODEL * dot(oldest.values, oldest.values)
      )
        return false;
    }
    known = { space, dims: oldest?.values.length };
    return true;
  };
  /** The current space. The model is compared with a stored vector once, by embedding its text again. @throws EMBEDDING_MISMATCH */
  const currentSpace = async (): Promise<number | undefined> => {
    const space = file.read(({ vectors }) => vectors.space());
    if (space === undefined || (await fits(space))) return space;
    throw mismatch(file.path);
  };
  const readPage = (vectors: VectorTables, space: number): boolean => {
    const after = loaded?.space === space ? loaded.matrix.newest : 0;
    const page = vectors.after(after, space, PAGE);
    const [first] = page;
    if (loaded?.space !== space) {
      if (!first) return false;
      const dims = first.values.length;
      loaded = { space, dims, matrix: vectorMatrix(dims) };
    }
    for (const { id, record, scope, values } of page) loaded.matrix.add(id, record, scope, values);
    return page.length === PAGE;
  };
  const load = async (space: number): Promise<void> => {
    while (file.read(({ vectors }) => readPage(vectors, space))) await new Promise((resolve) => setImmediate(resolve));
  };

  return {
    async embed(texts) {
      try {
        const space = await currentSpace();
        const { vectors, refusal } = await vectorsOf(texts);
        const dims = known?.dims;
        if (space !== undefined && dims !== undefined && vectors.some((vector) => vector && vector.length !== dims)) {
          throw mismatch(file.path);
        }
        if (refusal !== undefined) {
          const says = "The embedding model refuses a text, which is searched by words only. It may be too long.";
          log("warn", "EMBEDDING_FAILED", says, { error: refusal });
        }
        return { space, vectors };
      } catch (error) {
        if (QavrError.isInstance(error) && error.code !== "INVALID_VECTOR") throw error;
        return failed(error);
      }
    },

    spaceFor({ space, vectors }, tables) {
      const current = tables.space();
      if (current !== undefined) return current === space ? current : undefined;
      known = { space: tables.addSpace(true), dims: vectors.find(Boolean)?.length };
      return known.space;
    },

    async request(text) {
      let request: RequestVector | undefined;
      try {
        const space = await currentSpace();
        if (space === undefined) return undefined;
        request = { values: await embedding.query(text), space };
      } catch (error) {
        if (QavrError.isInstance(error) && error.code !== "INVALID_VECTOR") throw error;
        return failed(error);
      }
      loading ??= load(request.space).finally(() => {
        loading = undefined;
      });
      await loading;
      return request;
    },

    nearest({ values, space }, tables, scope, limit, allowed) {
      if (tables.space() !== space) return undefined;
      while (readPage(tables, space));
      if (loaded?.space !== space) return { found: [], cosineOf: () => 0, forgets: () => false };
      if (values.length !== loaded.dims) throw mismatch(file.path);
      const { matrix } = loaded;
      // Half of the rows are of memories that are gone: the next search reads the rest again.
      if (matrix.rows > 2 * matrix.size + PAGE) loaded = undefined;
      const nearest = () => matrix.nearest(values, scope, limit, allowed);
      let found = nearest();
      if (found.some(({ vector }) => !tables.isLive(vector))) {
        // Some memories were deleted or archived.
        matrix.keep(tables.ids(space));
        found = nearest();
      }
      return {
        found,
        cosineOf: (memory) => matrix.cosine(values, memory) ?? 0,
        forgets(memories) {
          const isGone = memories.some((one) => matrix.cosine(values, one) !== undefined && !tables.has(one, space));
          if (isGone) matrix.keep(tables.ids(space));
          return isGone;
        },
      };
    },

    async reembed(onProgress) {
      // The model may have changed since it was compared.
      known = undefined;
      const current = file.read(({ vectors }) => vectors.space());
      const isSame = current !== undefined && (await fits(current));
      // A call that failed on the way has made some for this model.
      const begun = isSame ? undefined : file.read(({ vectors }) => vectors.begun());
      const goesOn = begun !== undefined && (await fits(begun).catch(() => false));
      const target = isSame ? current : goesOn ? begun : await file.write(({ vectors }) => vectors.addSpace(false));
      const total = file.read(({ vectors }) => vectors.countMissing(target));
      let made = 0;
      let embeddedText: string | undefined;
      /** Numbers of texts that the model refuses. */
      const refused = new Set<number>();
      let refusal: unknown;
      const lacking = (vectors: VectorTables, limit: number): { readonly n: number; readonly text: string }[] =>
        vectors.missing(target, limit + refused.size).filter(({ n }) => !refused.has(n));
      for (;;) {
        const part = file.read(({ vectors }) => lacking(vectors, PART));
        const embedded = await vectorsOf(
          part.map(({ text }) => text),
          embeddedText,
        );
        embeddedText ??= part.find((_, i) => embedded.vectors[i])?.text;
        refusal ??= embedded.refusal;
        const isDone = await file.write((tables) => {
          const left = new Map(lacking(tables.vectors, PART).map(({ n, text }) => [n, text]));
          // A text that changed meanwhile is embedded in the next part.
          for (const [i, { n, text }] of part.entries()) {
            const vector = embedded.vectors[i];
            if (!vector) refused.add(n);
            else if (left.get(n) === text) tables.vectors.put(n, target, vector);
          }
          if (lacking(tables.vectors, 1).length > 0) return false;
          tables.vectors.setSpace(target);
          return true;
        });
        made += embedded.vectors.filter(Boolean).length;
        if (part.length > 0) onProgress?.(Math.min(made, total), total);
        if (isDone) break;
      }
      known = { space: target, dims: file.read(({ vectors }) => vectors.oldest(target))?.values.length };
      while ((await file.write(({ vectors }) => vectors.prune([target], PAGE))) === PAGE);
      if (refusal !== undefined) throw refusal;
      return made;
    },
  };
}

function mismatch(path: string): QavrError {
  return new QavrError(
    "EMBEDDING_MISMATCH",
    `The vectors in ${path} were made by another embedding model. Give that model as embed, or make new vectors: await memories.reembed(). What was learned stays.`,
    { details: { path } },
  );
}
