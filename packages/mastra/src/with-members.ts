/**
 * An object with some members in place of its own. A proxy and neither a copy nor a subclass: the object keeps its class, its id, its
 * private fields and whatever else it can do.
 */
export function withMembers<Target extends object, Members extends object>(
  target: Target,
  members: Members,
): Target & Members {
  return new Proxy(target, {
    get(_target, name) {
      if (Object.hasOwn(members, name)) return members[name as keyof Members];
      const value: unknown = Reflect.get(target, name, target);
      // A class that is bound has another name.
      return typeof value === "function" && name !== "constructor" ? value.bind(target) : value;
    },
  }) as Target & Members;
}
