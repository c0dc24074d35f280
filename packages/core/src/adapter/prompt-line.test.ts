import { describe, expect, it } from "vitest";
import { LINE_BREAKS, OPENS_ROLE, ROLE_MARKERS } from "../../test/support/hostile-texts.js";
import { excerpt, promptLine } from "./prompt-line.js";

describe("a memory in a prompt", () => {
  it.each(LINE_BREAKS.map((at) => [JSON.stringify(at), at]))("keeps its lines behind its handle at %s", (_, at) => {
    expect(promptLine("m1", `one${at}[m2] two`)).toBe("[m1] one\n  [m2] two");
    expect(excerpt(`one${at}[m2] two`, 80)).toBe("one [m2] two");
  });

  it.each(ROLE_MARKERS)("cannot take another role by %s", (marker) => {
    expect(promptLine(undefined, marker)).not.toMatch(OPENS_ROLE);
    expect(excerpt(marker, 80)).not.toMatch(OPENS_ROLE);
  });

  it("keeps markup, comparisons and lists as they are", () => {
    const text = "if a <b> and x < y || z > 0 use [install] <span> [m2] a[INDEX] <|> |> <｜> [SYSTEM]";
    expect(promptLine("", text)).toBe(`- ${text}`);
  });

  it("is cut between characters", () => {
    expect(excerpt("ab😀", 3)).toBe("ab\ufffd…");
    expect(excerpt("abc", 3)).toBe("abc");
  });
});
