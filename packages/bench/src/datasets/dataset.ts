/** A kind of task: what a request is really about. */
export interface Need {
  /** Short name, unique in its dataset. */
  readonly name: string;
  readonly text: string;
}

/** A real text with the need that people gave it. */
export interface LabelledText {
  readonly text: string;
  /** Place in {@link Dataset.needs}. */
  readonly need: number;
}

/** Real texts of which each has one need. */
export interface Dataset {
  readonly name: string;
  readonly needs: readonly Need[];
  readonly texts: readonly LabelledText[];
}
