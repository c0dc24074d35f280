import { memoryStore } from "@qavr/core";
import fc from "fast-check";
import type { ConformanceTopic } from "../conformance-case.js";
import { commandArbitraries, scriptPools } from "../model/commands.js";
import type { Candidate, Model } from "../model/model-state.js";

export const model: ConformanceTopic = {
  topic: "model",
  cases: [
    {
      title: "is indistinguishable from the reference store under random sequences of commands",
      async run({ store, fresh, model: { runs, seed, shrink = true } }) {
        const { durable, sharedBackend } = store.capabilities;
        const sequences = scriptPools.chain((pool) =>
          fc.commands(commandArbitraries({ durable, compact: store.readCheckpoint !== undefined }, pool), {
            maxCommands: 25,
            size: "max",
          }),
        );
        await fc.assert(
          fc.asyncProperty(sequences, async (commands) => {
            const { store: first, open, end } = await fresh();
            const handles = sharedBackend ? [first, await open()] : [first];
            const setup = (): { model: Model; real: Candidate } => ({
              model: { reference: memoryStore() },
              real: { handles, mirrors: new Map(), open },
            });
            await fc.asyncModelRun(setup, commands);
            await end();
          }),
          { numRuns: runs, seed, endOnFailure: !shrink },
        );
      },
    },
  ],
};
