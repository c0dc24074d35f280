/** State of the page; the address holds all of it. */
export interface Place {
  readonly page: string;
  readonly namespace?: string;
  /** Id of the run or memory. */
  readonly ref?: string;
  /** Collection of the memory. */
  readonly collection?: string;
  readonly order?: string;
  /** Place in the ledger before which runs are listed. */
  readonly before?: string;
  /** Last memories of the page before. */
  readonly after?: string;
  /** Words that listed memories must contain. */
  readonly words?: string;
  /** `all` shows every row of a long table. */
  readonly rows?: string;
}

const NAMES: readonly (keyof Place)[] = [
  "page",
  "namespace",
  "ref",
  "collection",
  "order",
  "before",
  "after",
  "words",
  "rows",
];

export function readPlace(): Place {
  const params = new URLSearchParams(location.search);
  const given = NAMES.flatMap((name) => {
    const value = params.get(name);
    return value === null ? [] : [[name, value]];
  });
  return { page: "overview", ...Object.fromEntries(given) };
}

export function searchOf(place: Place, names: readonly (keyof Place)[] = NAMES): URLSearchParams {
  const params = new URLSearchParams();
  for (const name of names) {
    const value = place[name];
    if (value !== undefined && value !== "") params.set(name, value);
  }
  return params;
}

export function hrefOf(place: Place): string {
  return `?${searchOf(place)}`;
}
