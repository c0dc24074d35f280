/** A kind of task: what a request is really about. */
export interface Need {
  /** Short name, unique in its dataset. */
  readonly name: string;
  readonly text: string;
}

/** A real text with the needs that people gave it. */
export interface LabelledText {
  readonly text: string;
  /** Places in {@link Dataset.needs}, each once; at least one. Most sets have exactly one per text. */
  readonly needs: readonly number[];
}

/** Real texts, each with what it is about. */
export interface Dataset {
  readonly name: string;
  readonly needs: readonly Need[];
  readonly texts: readonly LabelledText[];
}
