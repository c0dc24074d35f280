export { ATTACKS, type Attack, type AttackResult, type AttackSize, FULL, QUICK } from "./attacks/attacks.js";
export { MANIPULATED_STREAM } from "./attacks/manipulated-stream.js";
export { AttackedWorld, LAYERS, type Layer } from "./attacks/world.js";
export { type Simulated, simulate } from "./simulation/simulate.js";
export type { Mutant } from "./simulation/simulated-disk.js";
