import type { VectorStoreInterface } from "@langchain/core/vectorstores";

/** One call that reached a store's own code or its embedding model. */
export type Call = readonly [method: string, ...args: unknown[]];

/**
 * Records what reaches the store's own code: the methods that its class defines, not those that it inherits from LangChain's
 * abstract class, since those only call the former; and its embedding model.
 */
export function recordCalls(store: VectorStoreInterface): Call[] {
  const calls: Call[] = [];
  const record = (target: object, method: string): void => {
    const original = (target as Record<string, unknown>)[method];
    if (typeof original !== "function") return;
    Object.defineProperty(target, method, {
      configurable: true,
      writable: true,
      value(...args: unknown[]) {
        calls.push([method, ...said(args)]);
        return original.apply(target, args) as unknown;
      },
    });
  };
  for (const method of ownMethods(store)) record(store, method);
  for (const method of ["embedQuery", "embedDocuments"]) record(store.embeddings, method);
  return calls;
}

function ownMethods(store: object): string[] {
  const methods: string[] = [];
  for (
    let owner = Object.getPrototypeOf(store);
    !Object.hasOwn(owner, "asRetriever");
    owner = Object.getPrototypeOf(owner)
  ) {
    const described = Object.entries(Object.getOwnPropertyDescriptors(owner));
    methods.push(...described.filter(([, { value }]) => typeof value === "function").map(([name]) => name));
  }
  return methods.filter((name) => name !== "constructor" && name !== "_vectorstoreType");
}

/** The arguments up to the last defined one, without callbacks. */
function said(args: readonly unknown[]): unknown[] {
  const isWatcher = (argument: unknown): boolean =>
    typeof argument === "object" && argument !== null && "handlers" in argument;
  const compared = args.map((argument) => (isWatcher(argument) ? undefined : argument));
  return compared.slice(0, compared.findLastIndex((argument) => argument !== undefined) + 1);
}
