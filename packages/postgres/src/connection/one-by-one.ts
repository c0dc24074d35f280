/**
 * A look-up per row of `wanted`, which must not be rewritten into anything else: hence `offset 0`. The planner takes every namespace for
 * one of average size. Where most are small, it would read all of a busy one and throw away what was not asked for, with each commit.
 */
export function oneByOne(lookup: string, name: string): string {
  return `cross join lateral (${lookup} offset 0) as ${name}`;
}
