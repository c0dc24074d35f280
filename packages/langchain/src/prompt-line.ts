/** Everything that a reader, or a model, may take for the end of a line. */
const LINE_BREAK = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g;

/**
 * A memory as lines of a prompt: `[m1] text`, or `- text` without a handle. Further lines of the text are indented, so that
 * no text can pass for another memory.
 */
export function promptLine(handle: string | undefined, text: string): string {
  const indented = text.replaceAll(LINE_BREAK, "\n  ");
  return handle === undefined || handle === "" ? `- ${indented}` : `[${handle}] ${indented}`;
}
