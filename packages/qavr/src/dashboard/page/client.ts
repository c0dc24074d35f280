import { useEffect, useState } from "preact/hooks";
import { type Place, searchOf } from "./location.js";

const TOKEN = "qavr-token";
/** How often the page asks whether the ledger has changed, ms. */
const LOOK_EVERY = 2_000;
/** Pause before the next request of a report, in multiples of its own duration. */
const REST = 5;
/** How long the last report took, ms: large ledgers are looked at less often. */
let took = 0;
/** Last answers: after a step back, the browser scrolls to where the reader was before a new answer can be there. */
const answers = new Map<string, unknown>();
/** A quick answer needs no skeleton, ms. */
const SKELETON_AFTER = 150;

/** A refusal or failure of the server. */
export interface Problem {
  readonly code: string;
  readonly message: string;
}

/** One report as the page has it. Data of the last answer stay when a later one fails. */
export interface Loaded<Data> {
  readonly data?: Data;
  readonly problem?: Problem;
  /** True after {@link SKELETON_AFTER} without an answer. */
  readonly slow: boolean;
}

/** Moves the token from the address, which may be copied, into the storage that all tabs of the dashboard share. */
export function takeToken(): void {
  const token = /^#t=([\w-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  localStorage.setItem(TOKEN, token);
  history.replaceState(null, "", location.pathname + location.search);
}

async function ask<Data>(question: string, params: URLSearchParams, signal?: AbortSignal): Promise<Data> {
  let response: Response;
  try {
    response = await fetch(`api/${question}?${params}`, {
      headers: { authorization: `Bearer ${localStorage.getItem(TOKEN) ?? ""}` },
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw {
      code: "OFFLINE",
      message: "The server does not answer. Start it again with npx qavr dashboard.",
    } satisfies Problem;
  }
  const body = (await response.json()) as { readonly data: Data } | { readonly error: Problem };
  if ("error" in body) throw body.error;
  return body.data;
}

/** Loads a report, and again when the ledger has changed. */
export function useReport<Data>(
  question: string,
  place: Place,
  names: readonly (keyof Place)[],
  version: string,
  /** False asks later. */
  wanted = true,
): Loaded<Data> {
  const [loaded, setLoaded] = useState<Loaded<Data> & { readonly key?: string }>({ slow: false });
  const params = searchOf(place, ["namespace", ...names]);
  const key = `${question}?${params}`;
  useEffect(() => {
    if (!wanted) return undefined;
    const aborting = new AbortController();
    const start = performance.now();
    const timer = setTimeout(() => setLoaded((known) => ({ ...known, slow: true })), SKELETON_AFTER);
    ask<Data>(question, params, aborting.signal)
      .then(
        (data) => {
          took = performance.now() - start;
          answers.set(key, data);
          setLoaded({ key, data, slow: false });
        },
        (problem: Problem) => {
          if (aborting.signal.aborted) return;
          answers.delete(key);
          setLoaded((known) => ({ ...(known.key === key ? known : {}), key, problem, slow: false }));
        },
      )
      .finally(() => clearTimeout(timer));
    return () => {
      clearTimeout(timer);
      aborting.abort();
    };
  }, [key, version, wanted]);
  // Data of another question are not this one's.
  if (loaded.key === key) return loaded;
  return { slow: loaded.slow, ...(answers.has(key) ? { data: answers.get(key) as Data } : {}) };
}

/** The ledger as it is now. */
export interface Live {
  /** Another one after each change; empty while unknown, so that reports are asked for again after a failure. */
  readonly version: string;
  /** When the ledger was read last, Unix ms. */
  readonly at: number;
  /** The reason why it cannot be read now. */
  readonly problem?: Problem;
}

/** Asks every two seconds whether the ledger has changed, while the page is seen. */
export function useLive(place: Place): Live {
  const [live, setLive] = useState<Live>({ version: "", at: Date.now() });
  useEffect(() => {
    const aborting = new AbortController();
    const look = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        const { version } = await ask<{ version: string }>("version", searchOf(place, ["namespace"]), aborting.signal);
        setLive({ version, at: Date.now() });
      } catch (problem) {
        if (aborting.signal.aborted) return;
        setLive(({ at }) => ({ version: "", at, problem: problem as Problem }));
      }
    };
    let timer: ReturnType<typeof setTimeout>;
    const next = (): void => {
      if (aborting.signal.aborted) return;
      timer = setTimeout(() => void look().then(next), Math.max(LOOK_EVERY, REST * took));
    };
    next();
    return () => {
      clearTimeout(timer);
      aborting.abort();
    };
  }, [place.namespace]);
  return live;
}
