/** For what comes by itself, polled until it is there: long enough for a busy machine. */
export const SOON: { readonly timeout: number } = { timeout: 20_000 };
