import core from "@langchain/core/package.json" with { type: "json" };
import langgraph from "@langchain/langgraph/package.json" with { type: "json" };
import { expect, it } from "vitest";
import own from "../package.json" with { type: "json" };

it("the oldest peers are those that the ranges begin with", () => {
  expect(own.peerDependencies).toMatchObject({
    "@langchain/core": `^${core.version}`,
    "@langchain/langgraph": `^${langgraph.version}`,
  });
});
