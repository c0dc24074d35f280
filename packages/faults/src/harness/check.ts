/** How much a harness tries: a subset in the test suite, all of it by command. */
export type Size = "quick" | "full";

/** One line of the results. */
export interface CheckResult {
  /** Number of the promise that it is about. */
  readonly promise: string;
  readonly what: string;
  /** How often, or how much, it was tried. */
  readonly tried: string;
  /** The result, in numbers. */
  readonly seen: string;
  readonly held: boolean;
  /** True for a deliberate fault, which holds when it is found. */
  readonly mutant?: boolean;
}

/** The result of a deliberate fault, which holds when it is found. */
export function mutantResult(found: Pick<CheckResult, "what" | "tried" | "seen" | "held">): CheckResult {
  return { promise: "R25", ...found, what: `mutant: ${found.what}`, mutant: true };
}

/** A way to make things go wrong, and to look at what is left. */
export interface Harness {
  readonly name: string;
  /** It measures this process's memory, and needs one of its own in which garbage can be collected. @default false */
  readonly alone?: boolean;
  /** Why it cannot run on this machine; undefined when it can. */
  obstacle?(): string | undefined;
  /** @param isLong also what takes hours, where a harness has such a part */
  run(size: Size, isLong?: boolean): Promise<readonly CheckResult[]>;
}
