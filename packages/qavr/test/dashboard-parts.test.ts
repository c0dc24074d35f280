import { memoryStore } from "@qavr/core";
import { routedStore } from "@qavr/core/store";
import { expect, it } from "vitest";
import { createApi } from "../src/dashboard/api.js";
import { appEngine, runApp } from "./support/ledgers.js";

it("the dashboard shows the namespaces of the stores that answer, and all of them once the others are back", async () => {
  const south = memoryStore();
  let isAway = false;
  const store = routedStore({
    stores: {
      north: memoryStore(),
      south: {
        ...south,
        namespaces: async (page) => {
          if (isAway) throw new Error("connection refused");
          return south.namespaces(page);
        },
      },
    },
    by: (namespace) => (namespace === "far" ? "south" : "north"),
  });
  const engine = appEngine(store);
  for (const namespace of ["near", "far"]) await runApp(engine, { runs: 2, namespace });
  const api = createApi(store, "two stores");
  const status = (): Promise<unknown> => api.answer("status", new URLSearchParams("namespace=near"));
  isAway = true;
  expect(await status()).toMatchObject({ namespace: "near", otherNamespaces: [] });
  isAway = false;
  expect(await status()).toMatchObject({ namespace: "near", otherNamespaces: ["far"] });
});
