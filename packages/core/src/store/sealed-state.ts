import { crc32 } from "./crc32.js";
import { DAMAGED_STATE } from "./damaged.js";
import { stateAddress } from "./state-address.js";
import type { StateRef } from "./store.js";
import { nameToBytes } from "./validate.js";

/** Bytes of a seal. */
const SEAL = 4;

/**
 * A state as a store keeps it: its bytes, and behind them the CRC-32 of its scope, id and bytes, little-endian. A database finds damage of
 * its own structures only; states are a cache without a digest.
 */
export function sealState(ref: StateRef, value: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(value.length + SEAL);
  sealed.set(value);
  new DataView(sealed.buffer).setUint32(value.length, checksumOf(ref, value), true);
  return sealed;
}

/** The bytes of a kept state; {@link DAMAGED_STATE} when they are not those that were written for this scope and id. */
export function unsealState(ref: StateRef, sealed: Uint8Array): Uint8Array {
  const end = sealed.length - SEAL;
  if (end < 0) return DAMAGED_STATE;
  const value = sealed.subarray(0, end);
  const seal = new DataView(sealed.buffer, sealed.byteOffset + end, SEAL).getUint32(0, true);
  return checksumOf(ref, value) === seal ? value : DAMAGED_STATE;
}

function checksumOf(ref: StateRef, value: Uint8Array): number {
  return crc32(value, crc32(nameToBytes(stateAddress(ref))));
}
