/** Characters that a reader, or a model, may take for the end of a line. */
const LINE_BREAK = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g;

/** Beginnings of role markers in common chat templates: ChatML, Llama 2 and 3, Mistral, Gemma, Phi, DeepSeek. */
const ROLE_MARKER =
  /<(?=\|[\w-]{1,40}\|>|｜[\w▁]{1,40}｜>|\/?s>|<\/?SYS>>|(?:start|end)_of_turn>)|\[(?=\/?(?:INST|SYSTEM_PROMPT)\])/gi;

/**
 * A memory as lines of a prompt: `[m1] text`, or `- text` without a handle. Further lines of the text are indented, so that no text
 * can pass for another memory. A role marker of a chat template begins with `&lt;` or `&#91;` and is text.
 */
export function promptLine(handle: string | undefined, text: string): string {
  const indented = escapeRoles(text).replaceAll(LINE_BREAK, "\n  ");
  return handle === undefined || handle === "" ? `- ${indented}` : `[${handle}] ${indented}`;
}

/** The text on one line, at most `length` characters and an ellipsis. */
export function excerpt(text: string, length: number): string {
  const line = escapeRoles(text)
    .replaceAll(/[\s\u0085]+/g, " ")
    .trim();
  return line.length <= length ? line : `${line.slice(0, length).toWellFormed()}…`;
}

function escapeRoles(text: string): string {
  return text.replaceAll(ROLE_MARKER, (begin) => (begin === "<" ? "&lt;" : "&#91;"));
}
