/** A memory's name without the brackets that models copy along: `[m1]` is `m1`. */
export function bareHandle(name: string): string {
  return name.trim().replace(/^\[(.*)\]$/, "$1");
}
