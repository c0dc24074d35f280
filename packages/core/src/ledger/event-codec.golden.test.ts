import { describe, expect, it } from "vitest";
import { decodeEvent, encodeEvent } from "./event-codec.js";
import type { LedgerEvent } from "./events.js";
import { MAINTENANCE_EVENTS } from "./maintenance-events.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** One event of each type. These bytes are in people's ledgers: whatever the code becomes, it must write and read exactly them. */
const frozen: readonly (readonly [string, LedgerEvent, string])[] = [
  [
    "an exposure",
    {
      type: "exposure",
      episode: "e-1",
      state: "suspended",
      aliases: ["run-1", "ünï"],
      suspendedAs: "thread",
      continues: 3,
      onEdit: "discount",
      exposures: [
        {
          collection: "docs",
          context: "default",
          space: "host",
          length: 1_536,
          vectorSource: "host",
          vector: Int8Array.of(127, -128, 0, 1),
          learner: "cav@1",
          gate: 0.25,
          credited: true,
          holdout: undefined,
          memoryOff: undefined,
          at: 1_767_225_600_000,
          candidates: [
            { id: "a", similarity: 0.75 },
            { id: "b", similarity: -0.5 },
          ],
          groups: [1, 0],
          shown: [
            {
              candidate: 1,
              index: 300,
              rank: 1,
              handle: 1,
              contentHash: 0xdeadbeef,
              label: "Undo",
              learned: 0.5,
              bonus: 0.25,
              overlap: 0,
              unverified: 0,
              utility: -0.125,
              evidence: 3,
            },
          ],
          dropped: [],
          shifts: [-0.5],
          reordered: true,
          movable: 300,
          scale: 2,
        },
      ],
    },
    "0103652d3101020572756e2d3105c3bc6ec3af0674687265616403010104646f63730764656661756c7404686f7374800c01047f8000010563617640310000803e3100000040000080aa6db77942020001610001620000403f000000bf020100ac020101ac020101f3efbeadde04556e646f0000003f0000803e000000be000040400001000000bf",
  ],
  [
    "an exposure that was held out",
    {
      type: "exposure",
      episode: "e-1",
      state: "ended",
      aliases: [],
      suspendedAs: undefined,
      continues: 0,
      onEdit: "keep",
      exposures: [
        {
          collection: "docs",
          context: "default",
          space: "",
          length: 0,
          vectorSource: "none",
          vector: new Int8Array(0),
          learner: "cav@1",
          gate: 0,
          credited: true,
          holdout: { share: 0.25, held: true, differs: true, advantage: 0.5 },
          memoryOff: undefined,
          at: 1_767_225_600_000,
          candidates: [],
          groups: [],
          shown: [],
          dropped: [],
          shifts: [],
          reordered: false,
          movable: 0,
          scale: 0,
        },
      ],
    },
    "0103652d3102000000000104646f63730764656661756c7400000000056361764031000000000f0000803e0000003f000080aa6db77942000000000000",
  ],
  [
    "an outcome with reward, votes and use",
    {
      type: "outcome",
      episode: "e-1",
      reward: 0.5,
      weight: 0.3,
      tier: "self-reported",
      source: "tool",
      helpful: ["a"],
      harmful: [],
      neutral: ["c"],
      used: [
        { id: "a", by: "application" },
        { id: "b", by: "quote" },
      ],
      note: "ok",
      rules: undefined,
    },
    "0103652d31020e0000003f333333333333d33f0304746f6f6c01016100010163010201610001620400026f6b",
  ],
  [
    "a revision",
    { type: "revision", collection: "docs", onEdit: "discount", ids: ["a", "b"] },
    "0104646f6373010201610162",
  ],
  ["a pruning", { type: "prune", collection: "docs", ids: ["a"] }, "0104646f6373010161"],
  ["a copy", { type: "copy", collection: "docs", memories: [{ from: "a", to: "b" }] }, "0104646f63730101610162"],
  [
    "an outcome without a reward",
    {
      type: "outcome",
      episode: "e-1",
      reward: null,
      weight: 1,
      tier: "verified",
      source: "checker",
      helpful: [],
      harmful: ["b"],
      neutral: [],
      used: undefined,
      note: "",
      rules: undefined,
    },
    "0103652d3102060000c07f010007636865636b65720001016200000000",
  ],
  [
    "an outcome that counts as far as its source is trusted, within a cap",
    {
      type: "outcome",
      episode: "e-1",
      reward: 1,
      weight: 1,
      tier: "user",
      source: "ann",
      helpful: [],
      harmful: [],
      neutral: [],
      used: undefined,
      note: "",
      rules: { audited: true, cap: { weight: 10, window: 86_400_000 } },
    },
    "0103652d31020501010103616e6e00000000070000000000000024400000000070999441",
  ],
  ["a forgetting", { type: "forget", collection: "docs", ids: ["a", "\uFEFFb"] }, "0104646f637302016104efbbbf62"],
  [
    "a revocation of a source",
    {
      type: "revoke",
      source: "liar",
      from: Number.NEGATIVE_INFINITY,
      to: Number.POSITIVE_INFINITY,
      fromSeq: 1,
      toSeq: Number.POSITIVE_INFINITY,
    },
    "01046c696172000000000000f0ff000000000000f07f000000000000f03f000000000000f07f",
  ],
  [
    "a revocation of a time and places",
    { type: "revoke", source: undefined, from: 1_767_225_600_000, to: 1_767_225_600_001, fromSeq: 3, toSeq: 300 },
    "0100000080aa6db77942001080aa6db7794200000000000008400000000000c07240",
  ],
  [
    "an import",
    {
      type: "import",
      learner: "qavr@1",
      collection: "docs",
      shared: Uint8Array.of(1, 2),
      memories: [{ id: "a", state: Uint8Array.of(3) }],
    },
    "010671617672403104646f63730201020101610103",
  ],
];

describe("the event layout, version 1", () => {
  it.each(frozen)("writes and reads the frozen bytes of %s", (_, event, bytes) => {
    expect(hex(encodeEvent(event, MAINTENANCE_EVENTS))).toBe(bytes);
    expect(decodeEvent(event.type, Uint8Array.from(Buffer.from(bytes, "hex")), MAINTENANCE_EVENTS)).toEqual(event);
  });
});
