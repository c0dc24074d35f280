import { memoryStore } from "@qavr/core";
import { qavr } from "@qavr/langchain";
import { localMemories } from "@qavr/local";

/** Notes of an agent that watches servers. Two of them sound right and are wrong. */
const notes = localMemories({ path: ":memory:", name: "runbook" });
await notes.add([
  { id: "clear-cache", text: "When a deploy fails, clear the cache.", metadata: { author: "ann" } },
  { id: "fix-permissions", text: "When a deploy fails with EACCES in a folder, fix the permissions of it." },
  { id: "restart-proxy", text: "Requests time out: restart the proxy." },
  { id: "enlarge-pool", text: "When requests of many users time out, enlarge the pool of connections." },
  { id: "renew-certificate", text: "Handshake errors at night: renew the certificate." },
  { id: "デプロイ", text: "デプロイの権限エラーは、フォルダーの権限を直す。" },
]);

/** Requests, and the note that solves each. */
const REQUESTS: Readonly<Record<string, string>> = {
  "the deploy fails": "fix-permissions",
  "requests time out": "enlarge-pool",
  "handshake errors in the night": "renew-certificate",
  デプロイで権限エラーが出る: "デプロイ",
};

const memory = qavr({
  store: memoryStore(),
  evaluate: ({ input, output }) => output === REQUESTS[String(input)],
});
/** A rule stands for the model: the agent does what the first note says. */
const agent = memory.track(memory.retriever(notes, { k: 1 }).pipe(([note]) => note?.id ?? "nothing"));

const answers = async (): Promise<string[]> => {
  const all: string[] = [];
  for (const request of Object.keys(REQUESTS)) all.push(await agent.invoke(request));
  return all;
};
const before = await answers();
for (let round = 0; round < 3; round++) await answers();
const after = await answers();

const right = (given: readonly string[]): number => Object.values(REQUESTS).filter((id, i) => id === given[i]).length;
for (const [i, request] of Object.keys(REQUESTS).entries()) console.log(`${request}: ${before[i]} → ${after[i]}`);
console.log(`right: ${right(before)} of ${before.length} → ${right(after)} of ${after.length}`);

// Notes that only failed are archived: searches do not find them any more, and restore() brings them back.
const known = await memory.memories({ collection: notes.name });
const useless = known.memories.filter(({ successes, failures }) => successes === 0 && failures > 0).map(({ id }) => id);
await notes.archive(useless);
console.log(`archived: ${useless.sort().join(", ")}; left: ${await notes.size()}`);
await memory.close();
await notes.close();
