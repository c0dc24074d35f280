export {
  abilitiesOf,
  type CaseContext,
  type ConformanceCase,
  type ConformanceTopic,
  DEFAULT_MODEL,
  type ModelOptions,
  runCase,
  type StoreAbilities,
  type StoreBackend,
  type StoreSubject,
} from "./conformance-case.js";
export { conformanceTopics } from "./conformance-topics.js";
export { describeStore } from "./describe-store.js";
export { writeStates } from "./fixtures/write-states.js";
