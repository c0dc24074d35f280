import { scriptedModel } from "@qavr/bench/mastra";

/** Stands for a model: does what it remembers when it is asked for a rollout, and fails at the old way. */
export const model: ReturnType<typeof scriptedModel> = scriptedModel((prompt) => {
  const start = prompt.lastIndexOf("user:");
  const [remembered, asked] = [prompt.slice(0, start), prompt.slice(start)];
  if (!asked.includes("please")) return { text: "Noted." };
  if (remembered.includes("docker compose")) return { error: new Error("the rollout failed") };
  return { text: remembered.includes("helm upgrade") ? "Rolled out with helm." : "I do not know how." };
});
