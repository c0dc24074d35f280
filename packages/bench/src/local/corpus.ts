import { cachedLsa, loadDataset, lsaEmbedder, seededRandom, shuffle } from "@qavr/lab";

/** Texts, requests and their vectors for one size. */
export interface Corpus {
  readonly texts: readonly string[];
  /** Needs of the texts, parallel to them; −1 for texts of other fields. */
  readonly needs: readonly number[];
  readonly requests: readonly { readonly text: string; readonly need: number }[];
  /** Vectors of texts and then of requests, `dims` numbers each. */
  readonly vectors: Float32Array;
  readonly dims: number;
}

/** Numbers of a vector, as many as small sentence embedders have. */
export const DIMS = 384;
/** Questions of banking77 among the texts; the others come from other fields. */
const ANSWERS = 10_000;
/** Texts that the embedding is fitted on. */
const FITTED = 3_000;

/**
 * Questions of bank customers are texts and requests: a hit is a text with the request's need. Beyond 10,000, texts of two other sets and
 * pairs of them stand around.
 */
export async function buildCorpus(size: number, asked: number): Promise<Corpus> {
  const random = seededRandom(21);
  const { texts: questions } = await loadDataset("banking77");
  const shuffled = shuffle([...questions], random);
  const answers = shuffled.slice(0, Math.min(size, ANSWERS));
  const requests = shuffled
    .slice(ANSWERS, ANSWERS + asked)
    .map(({ text, needs }) => ({ text, need: needs[0] as number }));
  const others = [...(await loadDataset("clinc150")).texts, ...(await loadDataset("hwu64")).texts].map(
    ({ text }) => text,
  );
  const distractors = Array.from({ length: size - answers.length }, (_, i) =>
    i < others.length
      ? (others[i] as string)
      : `${others[(i * 7) % others.length]}, and ${others[(i * 13 + 5) % others.length]}`,
  );
  const texts = [...answers.map(({ text }) => text), ...distractors];
  const embed = lsaEmbedder(await cachedLsa(texts.slice(0, FITTED), { dims: DIMS }));
  const vectors = new Float32Array((texts.length + requests.length) * DIMS);
  for (const [i, text] of [...texts, ...requests.map((request) => request.text)].entries()) {
    vectors.set(embed(text), i * DIMS);
  }
  const needs = [...answers.map(({ needs: [need] }) => need as number), ...distractors.map(() => -1)];
  return { texts, needs, requests, vectors, dims: DIMS };
}
