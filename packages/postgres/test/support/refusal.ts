import { QavrError } from "@qavr/core";
import { expect } from "vitest";

/** The QavrError that a call rejects with. */
export async function refusalOf(call: Promise<unknown>): Promise<QavrError> {
  const error = await call.then(
    () => expect.fail("The call should have been refused."),
    (refused: unknown) => refused,
  );
  if (QavrError.isInstance(error)) return error;
  throw error;
}
