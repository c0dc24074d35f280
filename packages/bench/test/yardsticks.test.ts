import type { LessonText, Request, World } from "@qavr/lab";
import { describe, expect, it } from "vitest";
import { idealObserver } from "../src/learning/ideal-observer.js";
import { needClassifier } from "../src/learning/need-classifier.js";

const about = (need: number): Request => ({ text: "", needs: [need], number: 0 });

describe("a classifier of needs", () => {
  it("infers the need of the labelled requests nearby, and nothing before the first label", () => {
    const classifier = needClassifier(3);
    const [east, north] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
    expect(classifier.infer(east)).toBeUndefined();
    classifier.learn(about(2), east);
    for (let run = 0; run < 9; run++) classifier.learn(about(1), north);
    expect(classifier.infer(east)).toBe(2);
    expect(classifier.infer(Float32Array.of(0.6, 0.8))).toBe(1);
  });
});

describe("an ideal observer", () => {
  const lessons = ["m0", "m1", "m2", "m3", "m4"].map(
    (id, place): LessonText => ({ id, text: "", need: place < 3 ? 0 : 1 }),
  );
  const world = {
    k: 2,
    lessons,
    needOf: (id: string) => lessons.find((lesson) => lesson.id === id)?.need ?? -1,
    scenario: { poison: 0.3, neutral: 0.2 } as World["scenario"],
  };
  const candidates = lessons.map(({ id }, place) => ({ id, similarity: 1 - place / 10 }));

  it("prefers memories of the need, and the host's order among those that nothing is known of", () => {
    const observer = idealObserver(world);
    expect(observer.choose(about(0), candidates)[0]).toBe("m0");
    expect(observer.choose(about(1), candidates)[0]).toBe("m3");
  });

  it("learns from outcomes alone which memories help and which mislead", () => {
    const observer = idealObserver(world);
    for (let run = 0; run < 40; run++) {
      observer.learn(about(0), ["m0"], run % 20 === 0);
      observer.learn(about(0), ["m1"], run % 4 === 0);
      observer.learn(about(0), ["m2"], run % 8 !== 0);
    }
    const [first, second] = observer.choose(about(0), candidates);
    expect(first).toBe("m2");
    // A memory of another need harms less than a misleading one.
    expect(second).not.toBe("m0");
  });

  it("leaves other needs as they were", () => {
    const observer = idealObserver(world);
    const own = candidates.slice(3);
    const before = observer.choose(about(1), own);
    for (let run = 0; run < 40; run++) observer.learn(about(0), ["m0"], false);
    expect(observer.choose(about(1), own)).toEqual(before);
  });
});
