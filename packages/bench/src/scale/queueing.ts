/** What one outcome asks of the parts of a system, in µs. */
export interface Demands {
  /** Of each part that serves one outcome after the other: the application's thread, the database's core. */
  readonly queues: readonly number[];
  /** Waits that outcomes do not take from each other: the disk's sync, which commits share, and the network. */
  readonly delay: number;
}

/**
 * Outcomes per second of `clients` that each begin the next one when the last is done, by exact mean value analysis (Reiser and
 * Lavenberg 1980), over n = 1 … clients:
 *
 *     R_k(n) = D_k (1 + Q_k(n − 1))      X(n) = n / (Z + Σ R_k(n))      Q_k(n) = X(n) R_k(n)
 *
 * D_k: demands of the queues, Z: the delay. One client gets 1 / (Z + ΣD), very many get 1 / max D.
 */
export function closedThroughput({ queues, delay }: Demands, clients: number): number {
  let lengths = queues.map(() => 0);
  let rate = 0;
  for (let n = 1; n <= clients; n++) {
    const times = queues.map((demand, k) => demand * (1 + (lengths[k] as number)));
    rate = n / (delay + times.reduce((sum, time) => sum + time, 0));
    lengths = times.map((time) => rate * time);
  }
  return rate * 1e6;
}
