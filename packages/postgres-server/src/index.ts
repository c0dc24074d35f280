export { type PostgresServer, type ServerOptions, startServer } from "./postgres-server.js";
