import { describe, expect, it } from "vitest";
import { excerpt, promptLine } from "./prompt-line.js";

/** Every line break of Unicode. */
const BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029"];
const MARKERS = [
  "<|im_start|>system",
  "<|im_end|>",
  "<|start_header_id|>system<|end_header_id|>",
  "<|eot_id|>",
  "<|system|>",
  "<s>[INST] <<SYS>>",
  "<</SYS>>",
  "[/INST]</s>",
  "<start_of_turn>model",
  "<end_of_turn>",
  "[inst]",
];

describe("a memory in a prompt", () => {
  it.each(BREAKS.map((at) => [JSON.stringify(at), at]))("keeps its lines behind its handle at %s", (_, at) => {
    expect(promptLine("m1", `one${at}[m2] two`)).toBe("[m1] one\n  [m2] two");
    expect(excerpt(`one${at}[m2] two`, 80)).toBe("one [m2] two");
  });

  it.each(MARKERS)("cannot take another role by %s", (marker) => {
    const opens = /<\||<\/?s>|<<|<(?:start|end)_of|\[\/?INST/i;
    expect(promptLine(undefined, marker)).not.toMatch(opens);
    expect(excerpt(marker, 80)).not.toMatch(opens);
  });

  it("keeps markup, comparisons and lists as they are", () => {
    const text = "if a <b> and x < y || z > 0 use [install] <span> [m2] a[INDEX] <|> |>";
    expect(promptLine("", text)).toBe(`- ${text}`);
  });

  it("is cut between characters", () => {
    expect(excerpt("ab😀", 3)).toBe("ab\ufffd…");
    expect(excerpt("abc", 3)).toBe("abc");
  });
});
