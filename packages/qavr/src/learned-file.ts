import { type Engine, memoryStore, QavrError } from "@qavr/core";
import type { StateCodec } from "@qavr/core/learner";
import { exportState, importState } from "@qavr/core/maintenance";
import { CommandError } from "./exit-codes.js";
import { learnerWithId } from "./learner-table.js";
import { engineOn, type Ledger, ledgerIn } from "./open-ledger.js";

/** State of a learner for one collection, as a file. Bytes are base64, in the learner's own format. */
export interface LearnedFile {
  readonly schema: 1;
  readonly learner: string;
  readonly collection: string;
  readonly shared?: string;
  readonly memories: readonly { readonly id: string; readonly state: string }[];
}

export async function toLearnedFile(engine: Engine, namespace: string, collection: string): Promise<LearnedFile> {
  const { learner } = engine;
  const { shared, memories } = await exportState(engine, { namespace, collection });
  return {
    schema: 1,
    learner: learner.id,
    collection,
    ...(shared === undefined ? {} : { shared: toBase64(learner.shared.encode(shared, 0)) }),
    memories: memories.map(({ id, state }) => ({ id, state: toBase64(learner.memory.encode(state, 0)) })),
  };
}

/** @throws CommandError USAGE for a file of another kind */
export function readLearnedFile(text: string): LearnedFile {
  let file: Partial<LearnedFile> | null = null;
  try {
    file = JSON.parse(text) as Partial<LearnedFile>;
  } catch {
    // Refused below, together with JSON of another form.
  }
  const whole =
    file?.schema === 1 &&
    typeof file.learner === "string" &&
    typeof file.collection === "string" &&
    (file.shared === undefined || typeof file.shared === "string") &&
    Array.isArray(file.memories) &&
    file.memories.every((memory) => typeof memory?.id === "string" && typeof memory.state === "string");
  if (whole) return file as LearnedFile;
  throw new CommandError("USAGE", "The file is not one that npx qavr ledger export printed. Export it without --json.");
}

/**
 * Imports a file into memory. Call it before a ledger is made, so that a refused file leaves nothing behind.
 *
 * @throws what {@link importLearnedFile} throws for a file that an empty namespace refuses
 */
export async function assertImportable(file: LearnedFile, namespace: string | undefined): Promise<void> {
  const trial = await ledgerIn(memoryStore(), "memory", namespace, { partial: false, create: true });
  await importLearnedFile(trial, file);
  await trial.close();
}

/**
 * Takes over what a file holds. A namespace without entries takes the file's learner.
 *
 * @throws CommandError CONFLICT for the file of another learner, INVALID_STATE for a damaged one, and what `importState` throws
 */
export async function importLearnedFile(
  { engine: { learner: own }, store, namespace }: Ledger,
  file: LearnedFile,
): Promise<void> {
  const learner = await learnerWithId(file.learner);
  if (!learner) {
    throw new CommandError("CONFLICT", `The file was written by the learner ${file.learner}, which is not known here.`);
  }
  if (learner.id !== own.id && (await store.head(namespace)) > 0) {
    throw new CommandError("CONFLICT", `The file was written by the learner ${learner.id}; this ledger has ${own.id}.`);
  }
  const { collection, shared, memories } = file;
  await importState(engineOn(store, learner), {
    namespace,
    collection,
    ...(shared === undefined ? {} : { shared: decoded(learner.shared, shared, `collection ${collection}`) }),
    memories: memories.map(({ id, state }) => ({ id, state: decoded(learner.memory, state, `memory ${id}`) })),
  });
}

function decoded<State>(codec: StateCodec<State>, text: string, what: string): State {
  try {
    return codec.decode(new Uint8Array(Buffer.from(text, "base64")));
  } catch (cause) {
    throw new QavrError("INVALID_STATE", `The file is damaged: the state of ${what} cannot be read. Export it again.`, {
      details: { what },
      cause,
    });
  }
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
