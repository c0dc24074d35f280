export type { RecalledMemory, SettledRun } from "../runs/verdict.js";
export { type ClaimFinding, type ClaimRule, lintClaim } from "./lint-claim.js";
export { REFLECTION_LIMITS } from "./parameters.js";
export { type Reflection, type ReflectOptions, reflect } from "./reflect.js";
export type { ReflectedRun } from "./reflection-prompt.js";
export {
  type ReflectionInput,
  type ReflectionReport,
  type ReflectOn,
  Reflector,
  type ReflectorOptions,
} from "./reflector.js";
export type { ClaimIndex, ClaimMetadata, ClaimSink } from "./save-claims.js";
