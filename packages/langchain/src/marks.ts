/**
 * Hidden properties, named by registered symbols, by which this package recognises its own objects and LangGraph recognises
 * handlers. `instanceof` would fail across two copies of a package (ESM and CJS) in one process.
 */
export const MARKS: Marks = {
  parts: Symbol.for("qavr.langchain.parts"),
  runTree: Symbol.for("qavr.langchain.run-tree"),
  retriever: Symbol.for("qavr.langchain.retriever"),
  vectorStore: Symbol.for("qavr.langchain.vector-store"),
  langGraphStore: Symbol.for("qavr.langchain.langgraph-store"),
  graphHandler: Symbol.for("langgraph.graph_callback_handler"),
};

interface Marks {
  /** On a memory: its parts. */
  readonly parts: symbol;
  /** On a handler: the run tree that it feeds. */
  readonly runTree: symbol;
  /** On these retrievers: true when another may unwrap one. */
  readonly retriever: symbol;
  /** On wrapped vector stores: true when another may unwrap one. */
  readonly vectorStore: symbol;
  /** On a wrapped LangGraph store that another may unwrap: itself. */
  readonly langGraphStore: symbol;
  /** LangGraph delivers interrupts to handlers with this mark; extending its class would import LangGraph. */
  readonly graphHandler: symbol;
}

/** Sets a mark, invisible to serialisation and comparison. */
export function mark(target: object, name: symbol, value: unknown): void {
  Object.defineProperty(target, name, { value });
}

/** The value of a mark; undefined for an object without it. */
export function markOf(target: unknown, name: symbol): unknown {
  return typeof target === "object" && target !== null ? (target as Record<symbol, unknown>)[name] : undefined;
}
