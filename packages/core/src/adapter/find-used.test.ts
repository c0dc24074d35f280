import { describe, expect, it } from "vitest";
import { findUsed, type ReadMemory, type RunTexts } from "./find-used.js";

const REFUND = "Refunds over 500 euros need the approval of a team lead before the payment service will send them.";
const RESTART =
  "When the queue is stuck, restart the payment service on host pay-3.internal.example and wait for ten minutes.";
const LESSON = "Write to ops@acme.example for a new account. Ticket INV-20441 shows how.";

const memories: readonly ReadMemory[] = [REFUND, RESTART, LESSON].map((text, i) => ({
  id: `d${i + 1}`,
  handle: `m${i + 1}`,
  text,
}));

function used(texts: Partial<RunTexts>) {
  return findUsed({ memories, request: "How do I get money back?", steps: [], answer: "", ...texts });
}

/** An answer that names another thing first, so that no quote begins the text. */
const answering = (text: string): string => `Here is what I know. ${text} I hope that helps.`;

describe("the used memories of a run", () => {
  it.each([
    ["one handle", "Ask your team lead [m1].", ["d1"]],
    ["several handles", "Ask first [m1, m2] and then wait [m3].", ["d1", "d2", "d3"]],
    ["a handle behind another", "Ask [m2][m1].", ["d2", "d1"]],
  ])("are those that the answer cites: %s", (_, answer, ids) => {
    expect(used({ answer })).toEqual(ids.map((id) => ({ id, by: "citation" })));
  });

  it.each([
    ["an index in code", "Use `rows[m1]` or\n```\nreturn [m2];\n```"],
    ["an index outside code", "The value of rows[m1] is missing."],
    ["a handle that no memory has", "See [m9]."],
    ["a word in brackets", "See [memory] and m1."],
  ])("are not taken from %s", (_, answer) => {
    expect(used({ answer })).toBeUndefined();
  });

  it("are not cited by brackets that the request or a memory has, such as a unit, nor by a handle of two memories", () => {
    expect(used({ request: "The area in [m2]?", answer: "It is 7 [m2]." })).toBeUndefined();
    const unit = { id: "d9", handle: "m9", text: "Areas are given in [m2]." };
    expect(used({ memories: [...memories, unit], answer: "It is 7 [m2]." })).toBeUndefined();
    const twice = memories.map((memory) => ({ ...memory, handle: "m1" }));
    expect(used({ memories: twice, answer: "See [m1]." })).toBeUndefined();
  });

  it("are those of which the answer repeats a passage, whatever its case, spaces and markup", () => {
    const quote = "REFUNDS over **500 euros** need the approval\nof a team lead,  before the payment service will";
    expect(used({ answer: answering(quote) })).toEqual([{ id: "d1", by: "quote" }]);
    expect(used({ answer: answering(REFUND.slice(0, 60)) })).toBeUndefined();
  });

  it("are not quoted by text that the request, a tool's result or another memory has, too", () => {
    const answer = answering(REFUND);
    expect(used({ answer, request: `They told me: ${REFUND}` })).toBeUndefined();
    expect(used({ answer, steps: [{ result: REFUND }] })).toBeUndefined();
    const copy = { id: "copy", handle: "m9", text: `Note. ${REFUND}` };
    expect(used({ answer, memories: [...memories, copy] })).toBeUndefined();
    // The same memory, shown by two searches.
    const [again] = memories as [ReadMemory];
    expect(used({ answer, memories: [...memories, { ...again, handle: "m4" }] })).toEqual([{ id: "d1", by: "quote" }]);
  });

  it("are those of which a tool call or the answer has a value", () => {
    const to = { to: "ops@acme.example", about: ["new account"] };
    expect(used({ steps: [{ tool: "mail", input: to }] })).toEqual([{ id: "d3", by: "argument" }]);
    expect(used({ steps: [{ tool: "mail", input: JSON.stringify(to) }] })).toEqual([{ id: "d3", by: "argument" }]);
    expect(used({ steps: [{ tool: "run", input: { on: "pay-3.internal.example" } }] })?.[0]?.id).toBe("d2");
    expect(used({ answer: "See INV-20441." })).toEqual([{ id: "d3", by: "quote" }]);
  });

  it.each([
    ["a word", { text: "restart the queue" }],
    ["a small number", { amount: 500 }],
    ["a part of a value", { ticket: "INV-2044" }],
    ["a date", { on: "2026-01-01" }],
  ])("are not those of which a tool call has %s", (_, input) => {
    const dated = { id: "d4", handle: "m4", text: "Closed on 2026-01-01 and 500 others, because the queue was full." };
    expect(used({ memories: [...memories, dated], steps: [{ tool: "t", input }] })).toBeUndefined();
  });

  it("are not those of which a call has a value from the request or an earlier result; a later result does not matter", () => {
    const call = { tool: "find", input: { ticket: "INV-20441" } };
    expect(used({ request: "What about INV-20441?", steps: [call] })).toBeUndefined();
    expect(used({ steps: [{ result: "Open: INV-20441" }, call] })).toBeUndefined();
    expect(used({ steps: [call, { result: "INV-20441 is paid" }] })).toEqual([{ id: "d3", by: "argument" }]);
  });

  it("are the skills that a tool call loads by id, by name or by file", () => {
    const skills: readonly ReadMemory[] = [
      { id: "pdf", handle: "m1", text: "Fill in forms" },
      { id: "s2", handle: "m2", text: "---\ndescription: Make slides\nname: slides\n---\nUse few words." },
      { id: "s3", handle: "m3", text: "Its name: pdf is no front matter" },
    ];
    const load = (tool: string, input: unknown) => used({ memories: skills, steps: [{ tool, input }] });
    expect(load("skill", { name: "pdf" })).toEqual([{ id: "pdf", by: "skill" }]);
    expect(load("load_skill", { skillName: "slides" })).toEqual([{ id: "s2", by: "skill" }]);
    expect(load("skill", { name: "skills/office/pdf" })).toEqual([{ id: "pdf", by: "skill" }]);
    expect(load("skill_search", { query: "pdf", skillNames: ["slides"] })).toBeUndefined();
    expect(load("read_file", { path: "/skills/slides/SKILL.md" })).toEqual([{ id: "s2", by: "skill" }]);
    expect(load("print", { name: "pdf" })).toBeUndefined();
    // No name is no memory's: these without front matter have none either.
    expect(load("load_skill", { name: "other", section: "" })).toBeUndefined();
    expect(load("list_skills", { path: "/skills/" })).toBeUndefined();
  });

  it.each([
    ["line ends", `---${"\n".repeat(400_000)}`, "", ""],
    ["spaces behind a name", `---\nname:${" ".repeat(12_000)}""x`, "", ""],
    ["signs of an address", RESTART, "", `a${"@".repeat(600_000)}a`],
    ["repeated words", RESTART, "", "a ".repeat(700_000)],
    ["letters of a path", RESTART, `${"a".repeat(600_000)}/`, ""],
  ])("are looked for in one pass, so that many %s end before the test's timeout", (_, text, path, answer) => {
    const read = [{ id: "d1", handle: "m1", text }];
    expect(used({ memories: read, steps: [{ tool: "skill", input: { path: `${path}a` } }], answer })).toBeUndefined();
  });

  it("have their plainest finder, and none is found without any text", () => {
    const steps = [{ tool: "mail", input: { to: "ops@acme.example" } }];
    expect(used({ steps, answer: `Done [m3]. ${LESSON}` })).toEqual([{ id: "d3", by: "citation" }]);
    expect(used({ memories: [{ id: "a", handle: "", text: undefined }], answer: answering(REFUND) })).toBeUndefined();
    expect(used({})).toBeUndefined();
  });
});
