/**
 * Hidden properties, named by registered symbols, by which this package recognises its own objects and LangGraph recognises
 * handlers. `instanceof` would fail across two copies of a package (ESM and CJS) in one process.
 */
export const MARKS: Readonly<Record<Mark, symbol>> = {
  /** On a memory: its parts. */
  parts: Symbol.for("qavr.langchain.parts"),
  /** On a handler: the run tree that it feeds. */
  runTree: Symbol.for("qavr.langchain.run-tree"),
  /** On these retrievers: true when another may unwrap one. */
  retriever: Symbol.for("qavr.langchain.retriever"),
  /** On wrapped vector stores: true when another may unwrap one. */
  vectorStore: Symbol.for("qavr.langchain.vector-store"),
  /** On a wrapped LangGraph store that another may unwrap: itself. */
  langGraphStore: Symbol.for("qavr.langchain.langgraph-store"),
  /** LangGraph delivers interrupts to handlers with this mark; extending its class would import LangGraph. */
  graphHandler: Symbol.for("langgraph.graph_callback_handler"),
};

type Mark = "parts" | "runTree" | "retriever" | "vectorStore" | "langGraphStore" | "graphHandler";

/** Sets a mark, invisible to serialisation and comparison. */
export function mark(target: object, name: symbol, value: unknown): void {
  Object.defineProperty(target, name, { value });
}

/** The value of a mark; undefined for an object without it. */
export function markOf(target: unknown, name: symbol): unknown {
  return typeof target === "object" && target !== null ? (target as Record<symbol, unknown>)[name] : undefined;
}
