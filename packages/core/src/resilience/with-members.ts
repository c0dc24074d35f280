/**
 * The same object with some members replaced or added. It is a proxy, not a copy or subclass: the object keeps its class, its private
 * fields and all its other members.
 */
export function withMembers<Target extends object, Members extends object>(
  target: Target,
  members: Members,
): Target & Members {
  return new Proxy(target, {
    get: (_target, name) => (Object.hasOwn(members, name) ? members[name as keyof Members] : boundMember(target, name)),
  }) as Target & Members;
}

/** A member of an object; a method is bound to it. The constructor is not: a bound class has another name. */
function boundMember(object: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(object, name, object);
  return typeof value === "function" && name !== "constructor" ? value.bind(object) : value;
}
