/** Longest value that a message repeats, UTF-16 units. */
const MAX_PRINTED = 80;

/** A value from outside inside a sentence: a text in quotes and on one line, since `"4"` is no number. */
export function quoted(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(printed(value)) : printed(value);
}

/** A value from outside as a message may repeat it: cut, and never throwing, whatever it is. */
export function printed(value: unknown): string {
  let text: string;
  try {
    text = String(value);
  } catch {
    // No prototype, or a toString of its own that fails.
    text = typeof value;
  }
  return text.length > MAX_PRINTED ? `${text.slice(0, MAX_PRINTED).toWellFormed()}…` : text;
}
