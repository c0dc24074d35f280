/** A reward of at least this is a success for an estimator that knows only success and failure. */
export const SUCCESS = 0.5;
