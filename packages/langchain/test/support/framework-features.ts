import langgraph from "@langchain/langgraph/package.json" with { type: "json" };
import langchain from "langchain/package.json" with { type: "json" };
import { it, type TestAPI } from "vitest";

const absent = Object.assign(() => undefined, { each: () => () => undefined }) as unknown as TestAPI;

/** `it`, where the installed framework is that new; elsewhere there is no such test, not even a skipped one. */
function since({ version }: { readonly version: string }, first: string): TestAPI {
  return version.localeCompare(first, "en", { numeric: true }) < 0 ? absent : it;
}

/** LangGraph has error handlers and time limits of nodes. */
export const itWithErrorHandlers: TestAPI = since(langgraph, "1.4.0");
/** LangGraph says which run is interrupted, and which one resumes it. */
export const itWithAnnouncements: TestAPI = since(langgraph, "1.4.17");
/** LangGraph aborts what it streams when the reader leaves. */
export const itWithAbortedStreams: TestAPI = since(langgraph, "1.4.18");
/** A tracked agent is part of the run that calls it, also without being handed its config. */
export const itWithJoiningAgents: TestAPI = since(langchain, "1.5.12");
/** A model call may be tried again although a middleware has changed its system prompt (langchainjs #10114). */
export const itWithRetriedPrompts: TestAPI = since(langchain, "1.2.26");
/** Agents stream events of version 3. */
export const itWithEventsOfVersion3: TestAPI = since(langchain, "1.5.0");
