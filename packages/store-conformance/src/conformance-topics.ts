import type { ConformanceTopic } from "./conformance-case.js";
import { askingAgain } from "./spec/asking-again.js";
import { atHead } from "./spec/at-head.js";
import { changes } from "./spec/changes.js";
import { close } from "./spec/close.js";
import { commit } from "./spec/commit.js";
import { compact } from "./spec/compact.js";
import { damage } from "./spec/damage.js";
import { durability } from "./spec/durability.js";
import { erase } from "./spec/erase.js";
import { goingBack } from "./spec/going-back.js";
import { idempotency } from "./spec/idempotency.js";
import { limits } from "./spec/limits.js";
import { model } from "./spec/model.js";
import { namespaces } from "./spec/namespaces.js";
import { reads } from "./spec/reads.js";
import { reductions } from "./spec/reductions.js";
import { replay } from "./spec/replay.js";
import { sharedBackend } from "./spec/shared-backend.js";
import { verify } from "./spec/verify.js";

/** The whole contract, in the order it is best read. Run by `describeStore`, or case by case with `runCase`. */
export const conformanceTopics: readonly ConformanceTopic[] = [
  commit,
  idempotency,
  askingAgain,
  reductions,
  replay,
  reads,
  changes,
  namespaces,
  limits,
  atHead,
  compact,
  verify,
  damage,
  erase,
  close,
  durability,
  sharedBackend,
  goingBack,
  model,
];
