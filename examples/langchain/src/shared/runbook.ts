import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { Embeddings } from "@langchain/core/embeddings";

/** Notes from earlier incidents. */
export const NOTES = {
  cache: "When a deploy fails, run clear-cache and deploy again.",
  permissions: "EACCES in the log: run fix-permissions on the release folder.",
  proxy: "When requests time out, run restart-proxy.",
  pool: "Many users at once and slow answers: run enlarge-pool.",
  images: "When a build fails, run prune-images.",
  certificate: "Handshake errors after midnight: run renew-certificate.",
} as const;

/** Incidents, each with the command that solves it. The note that reads most like an incident is often the wrong one. */
export const INCIDENTS: readonly { readonly question: string; readonly remedy: string }[] = [
  { question: "the deploy fails with EACCES", remedy: "fix-permissions" },
  { question: "requests time out when many users are online", remedy: "enlarge-pool" },
  { question: "a build fails since the deploy", remedy: "clear-cache" },
  { question: "handshake errors in the night", remedy: "renew-certificate" },
];

/** The application's own check: true when an answer names the command that solves the incident. */
export function solves(question: string, answer: string): boolean {
  return INCIDENTS.some((incident) => question.includes(incident.question) && answer.includes(incident.remedy));
}

/** The first command that a text names. */
export function commandIn(text: string): string {
  return (
    /\b(?:clear-cache|fix-permissions|restart-proxy|enlarge-pool|prune-images|renew-certificate)\b/.exec(text)?.[0] ??
    "none"
  );
}

/** Counts of hashed words: enough of an embedding for six notes, and the same on every machine. */
class WordEmbeddings extends Embeddings {
  constructor() {
    super({});
  }

  override async embedQuery(text: string): Promise<number[]> {
    const counts = new Array<number>(256).fill(0);
    for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
      let hash = 2_166_136_261;
      for (const character of word) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619);
      counts[(hash >>> 0) % counts.length]! += 1;
    }
    return counts;
  }

  override embedDocuments(texts: string[]): Promise<number[][]> {
    return Promise.all(texts.map((text) => this.embedQuery(text)));
  }
}

/** The notes in a LangChain vector store. Any other one does as well. */
export async function runbook(): Promise<MemoryVectorStore> {
  const store = new MemoryVectorStore(new WordEmbeddings());
  await store.addDocuments(Object.entries(NOTES).map(([id, pageContent]) => ({ id, pageContent, metadata: {} })));
  return store;
}
