/** The part of a connection pool that the store uses: `Pool` of `pg` 8, or a wrapper of one. */
export interface PgPool {
  connect(): Promise<PgClient>;
}

/** A connection taken from a pool. */
export interface PgClient {
  query(query: PgQuery): Promise<PgResult | PgResult[]>;
  /** Returns it to the pool; `true` destroys it. */
  release(destroy?: boolean): void;
  on(event: "error" | "notification", listener: PgListener): unknown;
  removeListener(event: "error" | "notification", listener: PgListener): unknown;
  /** Makes the connection keep the process alive. */
  ref?(): void;
  unref?(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: as Node's event emitters declare it
type PgListener = (...event: any[]) => void;

/** One statement or, without values, several. */
export interface PgQuery {
  readonly text: string;
  readonly values?: unknown[];
  /** Prepared once per connection under this name. */
  readonly name?: string;
  readonly types?: { getTypeParser(oid: number, format?: string): (text: string) => unknown };
  /** ms */
  readonly query_timeout?: number;
}

export interface PgResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** The servers of a URL, each as a URL of its own: `postgres://a:5432,b:5433/db` names two. */
export function serversOf(connectionString: string): string[] {
  const [, before, hosts, after] = /^([^:]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/.exec(connectionString) ?? [];
  return hosts?.includes(",") ? hosts.split(",").map((host) => `${before}${host}${after}`) : [connectionString];
}
