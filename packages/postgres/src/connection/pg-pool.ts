/** What the store asks of a connection pool: `Pool` of `pg` 8 has it, and so has whatever wraps one. */
export interface PgPool {
  connect(): Promise<PgClient>;
}

/** A connection taken from a pool. */
export interface PgClient {
  query(query: PgQuery): Promise<PgResult | PgResult[]>;
  /** Gives it back; `true` throws it away. */
  release(destroy?: boolean): void;
  on(event: "error" | "notification", listener: PgListener): unknown;
  removeListener(event: "error" | "notification", listener: PgListener): unknown;
  /** Whether the connection keeps the process alive. */
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
