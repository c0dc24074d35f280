export { type PostgresServer, type ServerOptions, startServer } from "./postgres-server.js";
export { startVectorServer, type VectorServer } from "./vector-server.js";
