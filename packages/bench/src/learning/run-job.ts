import { createWorld, DATASETS, type DatasetName, loadCorpus, type Split, type World } from "@qavr/lab";
import { type Retrieval, retrieve } from "../retrieval/retrieval.js";
import { runTrial } from "./protocol.js";
import type { Job, JobResult } from "./results.js";
import { ROWS, type Row } from "./rows.js";
import { SCENARIOS } from "./scenarios.js";

interface Prepared {
  readonly split: Split;
  readonly retrieval: Retrieval;
}

const prepared = new Map<DatasetName, Promise<Prepared>>();

/** A dataset's split and candidates: computed once per machine, read once per thread. */
export function prepare(set: DatasetName): Promise<Prepared> {
  const known = prepared.get(set) ?? load(set);
  prepared.set(set, known);
  return known;
}

async function load(set: DatasetName): Promise<Prepared> {
  const corpus = await loadCorpus(set);
  return { split: corpus.split, retrieval: await retrieve(corpus) };
}

/** Runs one row in one world. An error says which. */
export async function runJob(job: Job): Promise<JobResult> {
  const { split, retrieval } = await prepare(job.set);
  const world = worldOf(job, split);
  try {
    const { createArm } = rowNamed(job.row);
    return { ...job, ...(await runTrial(world, retrieval, createArm)) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${job.row} on ${job.set}, ${job.scenario}, seed ${job.seed}: ${reason}`, { cause: error });
  }
}

/** The world of a job: what the dataset asks for, and what the scenario does to it. */
export function worldOf({ set, scenario, seed }: Pick<Job, "set" | "scenario" | "seed">, split: Split): World {
  const { once, unseen } = DATASETS[set];
  const ofSet = { unseen, ...(once ? { runs: split.stream.length } : {}) };
  return createWorld(split, seed, { ...ofSet, ...SCENARIOS[scenario].settings });
}

function rowNamed(name: string): Row {
  const row = ROWS.find((one) => one.name === name);
  if (!row) throw new Error("there is no such row.");
  return row;
}
