/** Parts that most processes never use, loaded by their first use. One module: bundlers split code that several modules share. */
export { healStates, refuseDamaged } from "../heal-states.js";
export { afterDraining } from "./after-draining.js";
export { resumeEpisode } from "./episodes/resume.js";
export { explain } from "./explain.js";
export { logCaps } from "./log-caps.js";
export { readHistory, readMemories } from "./reads.js";
export { reconsidered, refuseReport } from "./refused-outcomes.js";
export { statusOf } from "./status.js";
