import type { PgClient, PgPool } from "../../src/index.js";

/** A pool behind a slow network. */
export interface HeldPool extends PgPool {
  /** Holds up the next statement with this text, or the answer to it, until what is returned is called. */
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
      if (plan.what !== what || !text.includes(plan.text)) continue;
      plans.delete(plan);
      await plan.wait();
    }
  };
  return {
    async connect() {
      const client = await pool.connect();
      const query: PgClient["query"] = async (sent) => {
        await pass(sent.text, "statement");
        const answer = await client.query(sent);
        await pass(sent.text, "answer");
        return answer;
      };
      return {
        query,
        release: (destroy) => client.release(destroy),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
      };
    },
    hold(text, what) {
      const [isHeld, held] = signal();
      const [isOver, letGo] = signal();
      const wait = (): Promise<void> => {
        held();
        return isOver;
      };
      plans.add({ text, what, wait });
      return { isHeld, letGo };
    },
  };
}

function signal(): readonly [Promise<void>, () => void] {
  let resolve = (): void => {};
  const signalled = new Promise<void>((done) => {
    resolve = done;
  });
  return [signalled, resolve];
}
