import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Names under which a browser on this machine, or at the other end of an ssh tunnel, reaches the server. */
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** Why a request is refused. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/**
 * Refuses everything but reads by the dashboard's own page. The port is any: a tunnel changes it. The name is not: a page of another
 * site that made its own name point here sends that name.
 *
 * @param allowedHosts names besides loopback, such as that of a dev container, with or without a port
 */
export function refusalOf(request: IncomingMessage, allowedHosts: readonly string[]): Refusal | undefined {
  const { host, origin } = request.headers;
  const names = [...LOOPBACK, ...allowedHosts.map(nameOf)];
  if (host === undefined || !names.includes(nameOf(host))) {
    return refuse(
      403,
      "HOST",
      "This name is not one of the dashboard's. Open it as localhost, or start it with --allow-host <name>.",
    );
  }
  if (origin !== undefined && !isOwn(origin, host)) {
    return refuse(403, "ORIGIN", "The dashboard answers only its own pages.");
  }
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return refuse(403, "ORIGIN", "The dashboard answers only its own pages.");
  }
  if (request.method !== "GET") return refuse(405, "METHOD", "The dashboard only reads.");
  return undefined;
}

/** True if a request carries the token. Compares in constant time. */
export function hasToken(request: IncomingMessage, token: string): boolean {
  const given = request.headers.authorization ?? "";
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(`Bearer ${token}`));
}

function nameOf(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}

/** An origin of the same name and port, over either scheme: a tunnel may add TLS. */
function isOwn(origin: string, host: string): boolean {
  return [`http://${host}`, `https://${host}`].includes(origin);
}

function refuse(status: number, code: string, message: string): Refusal {
  return { status, code, message };
}
