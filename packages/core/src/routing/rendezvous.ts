import { textHash } from "../embedding/text-hash.js";
import { illegalOption } from "../errors/illegal-option.js";

/**
 * Rendezvous hashing: spreads namespaces evenly over stores, and gives the same answer in every process.
 *
 *     home(namespace) = argmax over s of hash(namespace, seed = hash(s))
 *
 * A list with one store more gives 1/n of the namespaces another home; the homes of the others stay.
 *
 * @param names of stores, at least one
 * @throws INVALID_ARGUMENT for an empty list
 */
export function rendezvous(names: readonly string[]): (namespace: string) => string {
  if (!Array.isArray(names) || names.length === 0) {
    throw illegalOption("names", "rendezvous: names must be a list of at least one store's name", names);
  }
  // In one order, so that equal hashes have one winner.
  const seeds = [...names].sort().map((name) => ({ name, seed: textHash(name, 0) }));
  return (namespace) => {
    let best = { name: "", hash: -1 };
    for (const { name, seed } of seeds) {
      const hash = textHash(namespace, seed);
      if (hash > best.hash) best = { name, hash };
    }
    return best.name;
  };
}
