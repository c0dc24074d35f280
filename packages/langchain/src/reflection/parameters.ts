/**
 * Sizes around a reflection. Texts in UTF-16 units; what is longer is cut, since the model needs the gist of a run and its bill
 * grows with every unit.
 */
export const REFLECTION_LIMITS = {
  /** Input of the run. Origin: a page of text. */
  input: 4_000,
  /** Its answer. */
  output: 4_000,
  /** Its error. */
  error: 2_000,
  /** One memory's text. */
  memory: 1_000,
  /** Memories that are shown to the model: as many as a prompt of the run itself holds. Further ones get no vote. */
  memories: 40,
  /** Claims taken from one run. Origin: seed 2 asks for few; a model that lists more is retelling the run. */
  claims: 8,
  /** One claim. A longer one is a report. */
  claim: 600,
  /** Words below which a claim cannot name its context. Origin: the longest of seed 2's bad examples has four. */
  claimWords: 6,
  /** Reflections in the background at once; runs that end beyond it are not reflected on. */
  pending: 32,
  /** How long one model call may take, ms. */
  timeout: 60_000,
} as const;
