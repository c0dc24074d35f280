export { createDesk, type Desk, type Ticket } from "./desk.js";
export { createDeskAgent, type DeskAgent } from "./desk-agent.js";
export { hashedEmbedder } from "./hashed-embedder.js";
export { type LearningPlan, type LearningResult, measureLearning } from "./learning.js";
export { type Reply, scriptedModel } from "./scripted-model.js";
