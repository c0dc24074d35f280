/** What is asked of a deployment. */
export interface Demand {
  readonly tenants: number;
  /** That have a state, because they were shown. */
  readonly memories: number;
  /** Mean of the day; each outcome comes with one ranking. */
  readonly outcomesPerSecond: number;
  /** Of the traffic's Zipf law; 0 is even. */
  readonly exponent: number;
  /** Memories that a run is shown. */
  readonly shown: number;
  /** Memories of a tenant that are candidates of its requests in a day. */
  readonly activeMemories: number;
  /** Days of runs that are kept whole, and days beyond them of which only keys are left. */
  readonly keptDays: number;
  readonly keysDays: number;
  /** Days of runs that are read again often enough to stay in memory. */
  readonly recentDays: number;
  /** Between two checkpoints of the database, s. */
  readonly checkpointSeconds: number;
}

/** What it runs on. */
export interface Machines {
  /** One shard of the database. */
  readonly database: {
    readonly cores: number;
    readonly memoryBytes: number;
    readonly diskBytes: number;
    /** That the log may take of a disk. */
    readonly logBytesPerSecond: number;
    /** Shares that may be in use in the long run. */
    readonly use: number;
    readonly memoryUse: number;
    readonly diskUse: number;
    /** Machines that hold each shard's data: itself and its replicas. */
    readonly copies: number;
  };
  /** One process of the application, on a core of its own. */
  readonly app: {
    readonly use: number;
    /** `cacheBytes` of its store. */
    readonly cacheBytes: number;
    /** What the process takes beside that. */
    readonly otherBytes: number;
    /** To each shard. */
    readonly connections: number;
  };
}

/** Per month. Examples, to be replaced. */
export interface Prices {
  readonly core: number;
  readonly gibibyte: number;
  readonly terabyte: number;
}

/** The demand that the store was built for. */
export const DEMAND: Demand = {
  tenants: 100_000,
  memories: 1_000_000_000,
  outcomesPerSecond: 10_000,
  exponent: 1,
  shown: 5,
  activeMemories: 200,
  keptDays: 30,
  keysDays: 335,
  recentDays: 1 / 24,
  checkpointSeconds: 300,
};

/** Middling rented machines. */
export const MACHINES: Machines = {
  database: {
    cores: 16,
    memoryBytes: 128 * 2 ** 30,
    diskBytes: 16e12,
    logBytesPerSecond: 200e6,
    use: 0.5,
    memoryUse: 0.75,
    diskUse: 0.7,
    copies: 2,
  },
  app: { use: 0.6, cacheBytes: 512 * 2 ** 20, otherBytes: 512 * 2 ** 20, connections: 2 },
};

export const PRICES: Prices = { core: 20, gibibyte: 3, terabyte: 80 };
