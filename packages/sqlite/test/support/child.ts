import { type ChildResult, runFixture } from "../../../core/test/support/child.js";

/** Runs a fixture of this package in a process of its own to its end. @param flags of Node */
export function runChild(name: string, args: readonly string[], flags?: readonly string[]): Promise<ChildResult> {
  return runFixture(new URL(`../fixtures/${name}`, import.meta.url), args, flags);
}
