import { expect, it } from "vitest";
import type { Connections } from "../connection/connections.js";
import { placements } from "./placements.js";

it("the places of namespaces are kept, of those that were asked for last 65,536", async () => {
  let questions = 0;
  const rows = async () => {
    questions += 1;
    return [{ node: "worker:5432" }];
  };
  const source = { reaches: () => true, use: (work: (connection: { rows: typeof rows }) => unknown) => work({ rows }) };
  const nodeOf = placements(source as unknown as Connections, "qavr");
  for (let i = 0; i < 65_537; i++) expect(await nodeOf(`namespace ${i}`)).toBe("worker:5432");
  questions = 0;
  for (const i of [65_536, 1]) await nodeOf(`namespace ${i}`);
  expect(questions).toBe(0);
  await nodeOf("namespace 0");
  expect(questions).toBe(1);
});
