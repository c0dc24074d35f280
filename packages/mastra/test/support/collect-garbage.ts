import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects what nobody holds; its finalizers run some turns later. */
export const collectGarbage: () => void = runInNewContext("gc") as () => void;
