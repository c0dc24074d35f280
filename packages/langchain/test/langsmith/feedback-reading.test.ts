import { describe, expect, it } from "vitest";
import type { LangSmithFeedback } from "../../src/langsmith/feedback.js";
import { type FeedbackReading, readFeedback } from "../../src/langsmith/feedback-reading.js";

const said = (fields: Partial<LangSmithFeedback>): LangSmithFeedback => ({
  id: "f1",
  run_id: "r1",
  key: "quality",
  created_at: "2026-01-01T00:00:00Z",
  ...fields,
});
const reward = (fields: Partial<LangSmithFeedback>, reading: FeedbackReading = "score"): unknown =>
  readFeedback(said(fields), reading, "user")?.reward;

describe("a feedback's score", () => {
  it.each([
    [{ score: true }, true],
    [{ score: false }, false],
    [{ score: 1 }, 1],
    [{ score: 0 }, 0],
    [{ score: 0.25, value: "fair" }, 0.25],
    [{ score: null, value: true }, true],
    [{ value: 0.5 }, 0.5],
  ])("is a reward: %j", (fields, expected) => {
    expect(reward(fields)).toBe(expected);
  });

  it.each([[{}], [{ score: null, value: null }], [{ score: null, value: { text: "x" } }], [{ comment: "hm" }]])(
    "says nothing where there is none: %j",
    (fields) => {
      expect(readFeedback(said(fields), "score", "user")).toBeUndefined();
    },
  );

  it.each([[{ score: 4 }], [{ score: -0.1 }], [{ score: Number.NaN }], [{ value: "good" }]])(
    "is refused where it is no reward: %j",
    (fields) => {
      expect(() => reward(fields)).toThrow(expect.objectContaining({ code: "INVALID_REWARD" }));
    },
  );

  it("is refused without repeating what somebody wrote", () => {
    expect(() => reward({ value: "my password is 1234" })).toThrow(/^(?!.*1234)/);
  });
});

describe("a feedback's category", () => {
  const verdict = { good: 1, fair: 0.5, bad: false, "2": 0.9 };

  it.each([
    [{ value: "good" }, 1],
    [{ value: "bad", score: 0 }, false],
    [{ score: 2 }, 0.9],
    [{ value: "unheard of", score: 2 }, 0.9],
  ])("is looked up by its value, else by its score: %j", (fields, expected) => {
    expect(reward(fields, verdict)).toBe(expected);
  });

  it("says nothing where there is none, and is refused where it is not listed", () => {
    expect(reward({}, verdict)).toBeUndefined();
    expect(() => reward({ value: "so-so" }, verdict)).toThrow(expect.objectContaining({ code: "INVALID_REWARD" }));
    expect(() => reward({ value: "constructor" }, verdict)).toThrow(
      expect.objectContaining({ code: "INVALID_REWARD" }),
    );
  });

  it("is refused also when it looks like a reward", () => {
    expect(() => reward({ score: 1 }, { good: 1, bad: 0 })).toThrow(
      expect.objectContaining({ code: "INVALID_REWARD" }),
    );
  });
});

describe("a function that reads feedback", () => {
  it("gives any verdict, votes included", () => {
    const stars: FeedbackReading = ({ score }) => (Number(score) - 1) / 4;
    expect(reward({ score: 4 }, stars)).toBe(0.75);
    expect(reward({ score: 4 }, () => null)).toBeUndefined();
    expect(readFeedback(said({}), () => ({ success: false, harmful: ["m1"] }), "verified")).toEqual({
      reward: false,
      harmful: ["m1"],
      tier: "verified",
    });
    expect(() => reward({ score: 9 }, stars)).toThrow(expect.objectContaining({ code: "INVALID_REWARD" }));
  });
});
