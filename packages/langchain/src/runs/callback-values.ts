/**
 * LangChain hands callbacks `{ input }` and `{ output }` around anything that is no object. This is the value as the caller of
 * `invoke` sees it; an object that has nothing but that one key is taken for such a wrapper.
 */
export function unwrapped(value: unknown, key: "input" | "output"): unknown {
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0] === key ? (value as Record<string, unknown>)[key] : value;
}
