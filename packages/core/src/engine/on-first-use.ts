/** What most processes never use. One module, since bundlers split what several ones share. */
export { healStates, refuseDamaged } from "../heal-states.js";
export { afterDraining } from "./after-draining.js";
export { resumeEpisode } from "./episodes/resume.js";
export { explain } from "./explain.js";
export { logCaps } from "./log-caps.js";
export { readHistory, readMemories } from "./reads.js";
export { reconsidered } from "./refused-outcomes.js";
export { refuseReport } from "./refused-reports.js";
export { statusOf } from "./status.js";
