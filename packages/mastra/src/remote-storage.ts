/** Classes of storage that live in the process or on its disk. */
const LOCAL_CLASSES: ReadonlySet<string> = new Set(["InMemoryStore", "MockStore", "DuckDBStore"]);

/** The parts of Mastra's storage classes that tell where they keep their data. */
interface StorageShape {
  /** LibSQL's, private in its types. */
  readonly client?: { readonly protocol?: unknown };
}

/**
 * Whether an application keeps its threads on another machine, so that several instances of it may share them. An unknown class
 * of storage is taken for remote; LibSQL is when its client speaks to a server.
 */
export function isRemote(storage: unknown): boolean {
  if (typeof storage !== "object" || storage === null) return false;
  const { client } = storage as StorageShape;
  const { name } = storage.constructor;
  if (LOCAL_CLASSES.has(name)) return false;
  if (client?.protocol !== undefined) return client.protocol !== "file";
  return name !== "Object" && !name.startsWith("LibSQL") && name !== "MastraCompositeStore";
}
