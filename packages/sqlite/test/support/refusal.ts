import { QavrError } from "@qavr/core";
import { expect } from "vitest";

/** The QavrError that a call throws. */
export function refusalOf(call: () => unknown): QavrError {
  try {
    call();
  } catch (error) {
    if (QavrError.isInstance(error)) return error;
    throw error;
  }
  return expect.fail("The call should have been refused.");
}
