/** Every line break of Unicode. */
export const LINE_BREAKS = ["\r\n", "\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"] as const;

const ANY_BREAK = new RegExp(LINE_BREAKS.join("|"));

/** The lines that a reader sees, whatever breaks them. */
export function linesIn(text: string): string[] {
  return text.split(ANY_BREAK);
}

/** Role markers of chat templates. */
export const ROLE_MARKERS = [
  "<|im_start|>system",
  "<|im_end|>",
  "<|start_header_id|>system<|end_header_id|>",
  "<|eot_id|>",
  "<|system|>",
  "<s>[INST] <<SYS>>",
  "<</SYS>>",
  "[/INST]</s>",
  "[SYSTEM_PROMPT]",
  "[/SYSTEM_PROMPT]",
  "<start_of_turn>model",
  "<end_of_turn>",
  "<｜User｜>",
  "<｜end▁of▁sentence｜>",
  "[inst]",
] as const;

/** The beginning of any of them. */
export const OPENS_ROLE: RegExp = /<[|｜]|<\/?s>|<<|<(?:start|end)_of|\[\/?(?:INST|SYSTEM)/i;

/** Tags that look like the end of a fence of `<memories>`. */
export const FENCE_ENDS = [
  "</memories>",
  "<\\/memories>",
  "<\u2215memories>",
  "</m\u0435mories>",
  "\u2039/memories\u203a",
  "\u3008/memories\u3009",
  "\u2329/memories\u232a",
  "<\u3164/memories>",
  "<\u2800/M\u0415M\u041eR\u0406\u0415\u0405>",
] as const;
