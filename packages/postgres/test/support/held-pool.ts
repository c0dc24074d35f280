import type { PgPool } from "../../src/index.js";
import { interceptedPool } from "./intercepted-pool.js";

/** A pool behind a slow network, or in a process that is stopped now and then. */
export interface HeldPool extends PgPool {
  /** Holds up the next statement that begins with this text, or the answer to it, until what is returned is let go. */
  hold(text: string, what: "statement" | "answer"): HeldMessage;
}

export interface HeldMessage {
  /** Resolves when it is there, and held. */
  readonly isHeld: Promise<void>;
  letGo(): void;
}

export function heldPool(pool: PgPool): HeldPool {
  const plans = new Set<{ text: string; what: "statement" | "answer"; wait: () => Promise<void> }>();
  const pass = async (text: string, what: "statement" | "answer"): Promise<void> => {
    for (const plan of plans) {
      if (plan.what !== what || !text.startsWith(plan.text)) continue;
      plans.delete(plan);
      await plan.wait();
    }
  };
  return {
    ...interceptedPool(pool, async ({ text }, send) => {
      await pass(text, "statement");
      const answer = await send();
      await pass(text, "answer");
      return answer;
    }),
    hold(text, what) {
      const held = Promise.withResolvers<void>();
      const over = Promise.withResolvers<void>();
      const wait = (): Promise<void> => {
        held.resolve();
        return over.promise;
      };
      plans.add({ text, what, wait });
      return { isHeld: held.promise, letGo: over.resolve };
    },
  };
}
