import { memoryStore } from "@qavr/core";
import { rendezvous, routedStore } from "@qavr/core/store";
import { describeStore } from "../src/index.js";

describeStore({
  name: "routed over three memory",
  createBackend: () => ({
    open: () =>
      routedStore({
        stores: { a: memoryStore(), b: memoryStore(), c: memoryStore() },
        by: rendezvous(["a", "b", "c"]),
      }),
  }),
});
