import core from "@langchain/core/package.json" with { type: "json" };
import langgraph from "@langchain/langgraph/package.json" with { type: "json" };
import langchain from "langchain/package.json" with { type: "json" };
import { expect, it } from "vitest";
import zod from "zod/package.json" with { type: "json" };
import own from "../../package.json" with { type: "json" };

it("the oldest peers of agents are those that our ranges and those of the oldest langchain begin with", () => {
  expect(own.peerDependencies).toMatchObject({ langchain: `^${langchain.version}`, zod: `^${zod.version} || ^4.0.0` });
  expect(langchain.peerDependencies).toMatchObject({ "@langchain/core": `^${core.version}` });
  expect(langchain.dependencies).toMatchObject({ "@langchain/langgraph": `^${langgraph.version}` });
});
