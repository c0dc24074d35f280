import type { Logger } from "../engine/types.js";
import { createLog } from "./coded-log.js";

/**
 * Says once, each time that it is made, that something is wired up so that it cannot work. Without a logger it becomes a
 * process warning: nothing else would show it.
 */
export function warnOnce(logger: Logger | undefined, code: string, message: string): () => void {
  const log = createLog(logger, [code]);
  let said = false;
  return () => {
    if (said) return;
    said = true;
    log("warn", code, message);
  };
}
