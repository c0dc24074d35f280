import { expect, it } from "vitest";
import { type Runtime, runLoop } from "../src/runtimes.js";

/** Notes shown first and last: a note that failed, then the one that helped. */
const LEARNED = { core: ["wrong", "right"], langchain: ["wrong note", "right note"], examples: ["wrong", "right"] };

/** Declares a test for each runtime. Ledgers in files are opened twice: the second time, learning begins where it ended. */
export function testRuntimes(runtimes: readonly Runtime[]): void {
  it.each(runtimes.map((runtime) => [`${runtime.name} ${runtime.version}`, runtime] as const))(
    "the loop learns on %s",
    async (_name, runtime) => {
      const refusal = expect.stringMatching(/^STORE_UNAVAILABLE .*memoryStore\(\)/);
      const noSelector = expect.stringMatching(/^UNSUPPORTED This runtime has no AsyncLocalStorage with enterWith/);
      const inFiles = {
        coreSqlite: [LEARNED.core, ["right", "right"]],
        langchainSqlite: [LEARNED.langchain, ["right note", "right note"]],
      };
      expect(await runLoop(runtime)).toEqual(
        runtime.sqlite
          ? { learned: { ...LEARNED, ...inFiles }, sqlite: runtime.sqlite }
          : { learned: { ...LEARNED, examples: noSelector, withoutStore: refusal } },
      );
    },
  );
}
