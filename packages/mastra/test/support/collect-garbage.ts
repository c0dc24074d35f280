import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects garbage; finalizers run some turns later. */
export const collectGarbage: () => void = runInNewContext("gc") as () => void;
