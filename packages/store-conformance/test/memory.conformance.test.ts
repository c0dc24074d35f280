import { memoryStore } from "@qavr/core";
import { describeStore } from "../src/index.js";

describeStore({ name: "memory", createBackend: () => ({ open: () => memoryStore() }) });
