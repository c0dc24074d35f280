export { serverVersion } from "./binaries.js";
export { type CitusCluster, type ClusterOptions, startCluster, startOlderServer } from "./citus-cluster.js";
export { type CuttingProxy, cuttingProxy } from "./cutting-proxy.js";
export { hasCitus } from "./has-citus.js";
export { type LocalProxy, localProxy } from "./local-proxy.js";
export { type PostgresServer, type ServerOptions, startServer } from "./postgres-server.js";
export { startVectorServer, type VectorServer } from "./vector-server.js";
