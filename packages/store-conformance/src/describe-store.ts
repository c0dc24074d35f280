import { describe, it } from "vitest";
import {
  abilitiesOf,
  type ConformanceCase,
  runCase,
  type StoreAbilities,
  type StoreSubject,
} from "./conformance-case.js";
import { conformanceTopics } from "./conformance-topics.js";

/**
 * Registers the whole store contract with vitest, one `describe` per topic. Which cases apply follows from the capabilities
 * that the store declares and the optional methods that it has, never from its name. The others are listed as skipped, with the
 * reason; in continuous integration (the variable CI) they are left out, so that every line of its report is a case that ran.
 *
 * @example
 * describeStore({ name: "memory", createBackend: () => ({ open: () => memoryStore() }) });
 */
export function describeStore(subject: StoreSubject): void {
  describe(`${subject.name} store`, async () => {
    const abilities = await abilitiesOf(subject);
    for (const { topic, cases } of conformanceTopics) {
      const registered = process.env.CI ? cases.filter((candidate) => applies(candidate, abilities)) : cases;
      if (registered.length > 0) describe(topic, () => register(subject, registered, abilities));
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
