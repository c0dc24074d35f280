import { BaseCallbackHandler } from "@langchain/core/callbacks/base";

/** The callbacks of one run, in order, which can be played to a handler again as another run. */
export interface RecordedRun {
  /** Plays the run to a handler with run ids of its own; resolves when the handler is through with it. */
  play(handler: BaseCallbackHandler, run: number): Promise<void>;
}

const METHODS = ["handleChainStart", "handleChainEnd", "handleChainError", "handleToolStart", "handleToolEnd"] as const;
type Method = (typeof METHODS)[number];
type Play = (...args: unknown[]) => unknown;

/**
 * Runs something once and keeps the calls of its handlers, so that a handler's own work can be timed without LangChain's.
 *
 * @param start Starts the run with a handler and resolves when it has ended.
 */
export async function recordRun(start: (handler: BaseCallbackHandler) => Promise<unknown>): Promise<RecordedRun> {
  const events: { readonly method: Method; readonly args: readonly unknown[] }[] = [];
  const recorder = Object.assign(BaseCallbackHandler.fromMethods({}), { name: "recorder", awaitHandlers: true });
  for (const method of METHODS) {
    Object.assign(recorder, {
      [method]: (...args: unknown[]) => {
        events.push({ method, args });
      },
    });
  }
  await start(recorder);
  const started = events.flatMap(({ method, args }) => (method.endsWith("Start") ? [args[2]] : []));
  const places = new Map(started.map((id, place) => [id, place]));
  const idOf = (run: number, place: number): string =>
    `00000000-0000-4000-8000-${String(run * places.size + place).padStart(12, "0")}`;
  return {
    async play(handler, run) {
      for (const { method, args } of events) {
        const renamed = args.map((arg) => {
          const place = places.get(arg);
          return place === undefined ? arg : idOf(run, place);
        });
        await (handler[method] as Play | undefined)?.apply(handler, renamed);
      }
    },
  };
}
