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

/** A server of a URL. */
export interface Server {
  readonly url: string;
  /** Host and port, as a cluster names its nodes. */
  readonly node: string;
}

/** The servers of a URL, each with a URL of its own: `postgres://a:5432,b:5433/db` names two. */
export function serversOf(connectionString: string): Server[] {
  const [, before, hosts = "", after] = /^([^:]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/.exec(connectionString) ?? [];
  return hosts.split(",").map((host) => ({
    url: `${before}${host}${after}`,
    node: /:\d+$/.test(host) ? host : `${host}:5432`,
  }));
}
