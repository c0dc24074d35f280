/** Adds to `wrapper` the members that only `inner` has, each bound to `inner`. The wrapper's own and inherited members stay. */
export function addMembers(wrapper: object, inner: object): void {
  for (let owner: object | null = inner; owner && owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) {
      if (name in wrapper) continue;
      Object.defineProperty(wrapper, name, {
        configurable: true,
        enumerable: false,
        get() {
          const value: unknown = Reflect.get(inner, name, inner);
          return typeof value === "function" ? value.bind(inner) : value;
        },
        set: (value: unknown) => {
          (inner as Record<string, unknown>)[name] = value;
        },
      });
    }
  }
}
