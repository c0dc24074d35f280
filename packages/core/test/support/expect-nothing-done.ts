import { expect } from "vitest";
import type { ErrorCode } from "../../src/index.js";
import { replay } from "../../src/maintenance/index.js";
import { request, snapshot, type TestEngine } from "./test-engine.js";

/** Ends one episode, known as `done`, and leaves another open, known as `open`, whose id is returned: there is something to lose. */
export async function oneDoneOneOpen({ engine }: TestEngine): Promise<string> {
  const done = await engine.rank(request({ aliases: ["done"] }));
  await engine.end(done.episode, { reward: true, idempotencyKey: "used" });
  return (await engine.rank(request({ aliases: ["open"] }))).episode;
}

/** The call fails with this code, the error says what to do, and nothing anywhere has changed. */
export async function expectNothingDone(
  { engine, store }: TestEngine,
  open: string,
  code: ErrorCode,
  call: () => unknown,
): Promise<void> {
  const [before, openBefore] = [await snapshot(store), await engine.explain(open)];
  const error = await (async () => call())().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ name: "QavrError", code });
  expect((error as Error).message).toMatch(/\w+ .+[.?]$/s);
  expect(JSON.parse(JSON.stringify((error as { details: unknown }).details))).toEqual(
    (error as { details: unknown }).details,
  );
  expect(await snapshot(store)).toEqual(before);
  expect(await engine.explain(open)).toEqual(openBefore);
  expect((await engine.status()).episodes.open).toBe(1);
  expect(await replay(engine)).toMatchObject({ identical: true });
}
