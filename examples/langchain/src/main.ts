const EXAMPLES: Readonly<Record<string, () => Promise<unknown>>> = {
  "agent-middleware": () => import("./agent-middleware.js"),
  "feedback-later": () => import("./feedback-later.js"),
  "langgraph-interrupt": () => import("./langgraph-interrupt.js"),
  "rag-chain": () => import("./rag-chain.js"),
  "ranked-skills": () => import("./ranked-skills.js"),
};

const [name = ""] = process.argv.slice(2);
const start = Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined;
if (start) await start();
else {
  process.stderr.write(`error: Name an example: ${Object.keys(EXAMPLES).join(", ")}. Add --live for a real model.\n`);
  process.exitCode = 2;
}
