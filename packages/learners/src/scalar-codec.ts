import { QavrError } from "@qavr/core";
import { type FieldRule, problemOf, type StateCodec } from "@qavr/core/learner";

/** One number of a state: its value without evidence, and its rule in an imported state. */
export interface ScalarField {
  readonly empty: number;
  readonly rule: FieldRule;
}

/**
 * Codec of states that are a few numbers: one little-endian float64 each, in the order of `fields`. A state of empty values takes no
 * bytes.
 */
export function scalarCodec<State extends { [Field in keyof State]: number }>(
  fields: Readonly<Record<keyof State & string, ScalarField>>,
): StateCodec<State> {
  const names = Object.keys(fields) as (keyof State & string)[];
  const rules = Object.fromEntries(names.map((name) => [name, fields[name].rule]));
  const build = (value: (name: keyof State & string, place: number) => number): State =>
    Object.fromEntries(names.map((name, place) => [name, value(name, place)])) as State;
  return {
    empty: () => build((name) => fields[name].empty),
    decode(bytes) {
      if (bytes.length !== names.length * 8) {
        throw new QavrError("INVALID_STATE", "A stored learner's state has an impossible length. Replay the ledger.");
      }
      const values = new Float64Array(bytes.buffer, bytes.byteOffset, names.length);
      return build((_, place) => values[place] as number);
    },
    encode(state, room) {
      if (names.every((name) => Object.is(state[name], fields[name].empty))) return new Uint8Array(room);
      const bytes = new Uint8Array(room + names.length * 8);
      new Float64Array(bytes.buffer, room).set(names.map((name) => state[name]));
      return bytes;
    },
    problem: (state) => problemOf(state, rules),
  };
}
