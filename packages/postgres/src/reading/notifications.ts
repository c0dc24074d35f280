import { createHash, randomUUID } from "node:crypto";
import { type Connection, type Connections, statement } from "../connection/connections.js";
import { quoted } from "../tables/sql-text.js";
import type { KnownStates } from "./known-states.js";

/** A change that is announced to other stores. */
export interface Announcement {
  readonly namespace: string;
  /** Revision after the change. */
  readonly revision: number;
}

export interface Notifications {
  /** Sends an announcement soon. Not waited for; it may be lost. */
  announce(announcement: Announcement): void;
  close(): Promise<void>;
}

/** Most waiting announcements; more are dropped, and readers learn of the change from the server. */
const MAX_WAITING = 1_000;
/** Pause before listening again after the connection was lost, in ms. */
const RECONNECT = 1_000;

/** Notifications do not leave their server. */
const ON_ONE_SERVER = { first: true };
const NOTIFY = statement("select pg_notify($1, payload) from unnest($2::text[]) as payload");

/**
 * Announces changed namespaces to other stores on the same schema by NOTIFY, and listens to theirs. Sends after the commit: PostgreSQL
 * commits notifying transactions one after the other, each with its own wait for the disk.
 *
 * Any login of the database can notify without a right on any table. A notification therefore only drops cached states; knowledge comes
 * from the tables alone.
 */
export function notifications(source: Connections, schema: string, states: KnownStates): Notifications {
  const channel = `qavr_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`;
  const sender = randomUUID();
  const waiting: string[] = [];
  let sending: Promise<void> | undefined;
  let stop = (): void => {};
  let stopped = false;

  const receive = (payload: string): void => {
    const received = decode(payload);
    if (!received || received.sender === sender) return;
    states.notified(received.namespace, received.revision);
  };

  const send = async (): Promise<void> => {
    while (waiting.length > 0 && !stopped) {
      const payloads = waiting.splice(0);
      const notify = (connection: Connection) => connection.rows(NOTIFY, [channel, payloads]);
      await source.use(notify, ON_ONE_SERVER).catch(() => {});
    }
    sending = undefined;
  };

  const listen = async (): Promise<void> => {
    while (!stopped) {
      const ended = source.use(async (connection) => {
        const over = new Promise<void>((resolve) => {
          connection.onLoss(resolve);
          stop = resolve;
        });
        connection.onNotification(receive);
        await connection.script(`listen ${quoted(channel)}`);
        if (!stopped) await over;
        await connection.script(`unlisten ${quoted(channel)}`);
      }, ON_ONE_SERVER);
      await ended.catch(() => {});
      if (!stopped) {
        await new Promise<void>((resolve) => {
          stop = resolve;
          setTimeout(resolve, RECONNECT).unref();
        });
      }
    }
  };
  const listening = listen();

  return {
    announce(announcement) {
      if (stopped || waiting.length >= MAX_WAITING) return;
      waiting.push(encode(sender, announcement));
      sending ??= send();
    },
    async close() {
      await sending;
      stopped = true;
      stop();
      await listening;
    },
  };
}

/** As JSON, whose escapes keep NUL out of the text. A name of 512 characters takes 3 KB at most, and PostgreSQL sends almost 8. */
function encode(sender: string, { namespace, revision }: Announcement): string {
  return JSON.stringify([sender, namespace, revision]);
}

/** Undefined for a payload that no store has sent. */
function decode(payload: string): (Announcement & { readonly sender: string }) | undefined {
  try {
    const [sender, namespace, revision] = JSON.parse(payload);
    return typeof namespace === "string" && Number.isFinite(revision) ? { sender, namespace, revision } : undefined;
  } catch {
    return undefined;
  }
}
