import { describe, expect, it } from "vitest";
import { seededRandom } from "../../test/support/random.js";
import type { LessonExposure } from "./learner.js";
import { meetRequests, type RequestModel, requestModelCodec } from "./request-model.js";

const DIMS = 8;

function exposuresOf(requests: readonly (readonly number[] | undefined)[]): LessonExposure<RequestModel, unknown>[] {
  const shared = requestModelCodec({ bias: 0, gateNumerator: 0, gateDenominator: 0 }).empty();
  return requests.map((request) => ({
    shared,
    vector: request && Float32Array.from(request),
    context: "default",
    share: 1 / requests.length,
    voted: false,
    shown: [],
  }));
}

describe("meeting the requests of a run", () => {
  const random = seededRandom(5);
  const requests = [random.direction(DIMS), random.direction(DIMS), random.direction(DIMS)];

  it("gives a corrected run with several exposures the directions of its first lesson", () => {
    const exposures = exposuresOf(requests);
    const first = meetRequests(exposures, true);
    expect(meetRequests(exposures, false)).toEqual(first);
  });

  it("moves the mean once per run, by every request", () => {
    const exposures = exposuresOf(requests);
    const [{ shared }] = exposures as [LessonExposure<RequestModel, unknown>];
    meetRequests(exposures, true);
    const before = [...shared.mean];
    meetRequests(exposures, false);
    expect([...shared.mean]).toEqual(before);
    expect(shared.steps).toBe(3);
  });

  it("has no direction for an exposure without a request vector", () => {
    const directions = meetRequests(exposuresOf([undefined, requests[0]]), true);
    expect(directions.map((direction) => direction !== undefined)).toEqual([false, true]);
  });
});
