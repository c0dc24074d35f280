import { describe, it } from "vitest";
import {
  abilitiesOf,
  type ConformanceCase,
  runCase,
  type StoreAbilities,
  type StoreSubject,
} from "./conformance-case.js";
import { conformanceTopics } from "./conformance-topics.js";

/** How {@link describeStore} registers the suite. */
export interface DescribeStoreOptions extends StoreSubject {
  /**
   * Lists cases that the store's capabilities rule out as skipped, with the reason. In continuous integration they are left
   * out instead, so that every line of its report is a case that ran.
   * @default false when the variable CI is set, else true
   */
  readonly listInapplicable?: boolean | undefined;
}

/**
 * Registers the whole store contract with vitest, one `describe` per topic. Which cases apply follows from the capabilities
 * that the store declares and the optional methods that it has, never from its name.
 *
 * @example
 * describeStore({ name: "memory", createBackend: () => ({ open: () => memoryStore() }) });
 */
export function describeStore(options: DescribeStoreOptions): void {
  const listInapplicable = options.listInapplicable ?? !process.env.CI;
  describe(`${options.name} store`, async () => {
    const abilities = await abilitiesOf(options);
    for (const { topic, cases } of conformanceTopics) {
      const registered = listInapplicable ? cases : cases.filter((candidate) => applies(candidate, abilities));
      if (registered.length > 0) describe(topic, () => register(options, registered, abilities));
    }
  });
}

function register(subject: StoreSubject, cases: readonly ConformanceCase[], abilities: StoreAbilities): void {
  for (const conformanceCase of cases) {
    it(conformanceCase.title, async ({ skip }) => {
      if (!applies(conformanceCase, abilities)) {
        skip(`the ${subject.name} store does not offer ${conformanceCase.needs}`);
      }
      await runCase(subject, conformanceCase);
    });
  }
}

function applies({ needs }: ConformanceCase, abilities: StoreAbilities): boolean {
  return needs === undefined || abilities[needs] === true;
}
