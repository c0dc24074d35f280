/** What most processes never use. One module, since bundlers split what several ones share. */
export { explain } from "./explain.js";
export { logCaps } from "./log-caps.js";
export { readHistory, readMemories } from "./reads.js";
export { reconsidered } from "./refused-outcomes.js";
export { statusOf } from "./status.js";
