export type { PgClient, PgPool, PgQuery, PgResult } from "./connection/pg-pool.js";
export { distributeLedger } from "./distribute-ledger.js";
export { POSTGRES_DEFAULTS, type PostgresStoreOptions } from "./postgres-options.js";
export { postgresStore } from "./postgres-store.js";
