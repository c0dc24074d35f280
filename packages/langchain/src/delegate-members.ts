/**
 * Gives `wrapper` the members that only `inner` has (`save`, `end`, `index`, store-specific searches), each bound to `inner`.
 * What the wrapper has itself, inherited members included, stays its own.
 */
export function delegateMembers(wrapper: object, inner: object): void {
  for (let owner: object | null = inner; owner && owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) {
      if (name in wrapper) continue;
      Object.defineProperty(wrapper, name, {
        configurable: true,
        enumerable: false,
        get: () => bound(inner, name),
        set: (value: unknown) => {
          (inner as Record<string, unknown>)[name] = value;
        },
      });
    }
  }
}

function bound(inner: object, name: string): unknown {
  const value = (inner as Record<string, unknown>)[name];
  return typeof value === "function" ? value.bind(inner) : value;
}
