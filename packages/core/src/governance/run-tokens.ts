import { checkOutcome, DEFAULT_NAME, NAME } from "../engine/check.js";
import type { Engine, OutcomeInput, OutcomeReceipt } from "../engine/types.js";
import { ABOVE_0, checkFields, checkObject, type FieldRules, FUNCTION, oneOf, RATE } from "../errors/field-rules.js";
import { illegalOption } from "../errors/illegal-option.js";
import { QavrError } from "../errors/qavr-error.js";
import { OUTCOME_TIERS, type OutcomeTier } from "../ledger/events.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Shortest secret, bytes: what HMAC-SHA-256 can use. */
const SECRET_BYTES = 32;
/** Longest token, characters: three names of 512 units, each unit escaped in six characters, in base64. */
const MAX_TOKEN = 16_384;
const DAY = 86_400_000;
const FORMAT = 1;

/** The right of a token's holder: to report one outcome about one episode, under one name. */
export interface RunGrant {
  /** @default "default" */
  readonly namespace?: string | undefined;
  readonly episode: string;
  /** Name of the reporter. The holder cannot choose another name. */
  readonly source: string;
  /** How good the holder's word is; the holder cannot choose a better one. @default "self-reported" */
  readonly tier?: OutcomeTier | undefined;
  /** In (0, 1]. @default that of the tier */
  readonly weight?: number | undefined;
  /** How long it is good for, ms. @default 1 day */
  readonly ttl?: number | undefined;
}

/** The outcome of a holder: without source, tier and weight, which the token fixes. */
export type RemoteOutcome = Omit<OutcomeInput, "tier" | "source" | "weight" | "idempotencyKey">;

export interface RunTokens {
  /** Makes a token for a holder outside this process. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  issue(grant: RunGrant): Promise<string>;
  /**
   * Records the outcome of a token's holder, once: the same outcome again is a duplicate, another one a conflict.
   * @throws INVALID_TOKEN for one that is not genuine or past its time, INVALID_ARGUMENT for a word that holders have no say in,
   * IDEMPOTENCY_CONFLICT, and what `Engine.report` throws
   */
  report(token: string, outcome: RemoteOutcome): Promise<OutcomeReceipt>;
}

export interface RunTokensOptions {
  readonly engine: Pick<Engine, "report">;
  /**
   * At least 32 random bytes that only this application knows; several to change over: the first one signs, all of them are accepted.
   */
  readonly secret: Uint8Array | readonly Uint8Array[];
  /** Unix ms. @default Date.now */
  readonly clock?: (() => number) | undefined;
}

const GRANT: FieldRules<RunGrant> = {
  namespace: NAME,
  episode: NAME,
  source: NAME,
  tier: oneOf(...OUTCOME_TIERS),
  weight: RATE,
  ttl: ABOVE_0,
};

const OPTIONS: FieldRules<RunTokensOptions> = {
  engine: [(engine) => typeof (engine as Partial<Engine> | null)?.report === "function", "an engine"],
  secret: true,
  clock: FUNCTION,
};

/** The signed content. Its names are short, since it travels with every run. */
interface Claims {
  readonly v: number;
  readonly n: string;
  readonly e: string;
  readonly s: string;
  readonly t: OutcomeTier;
  readonly w: number | null;
  /** Unix ms. */
  readonly x: number;
  /** Drawn for this token. */
  readonly k: string;
}

/**
 * Lets reporters outside this process (a browser, another service, an agent's tool) say how one run went, and nothing else. A token is
 * signed with HMAC-SHA-256, so its holder can change neither the episode nor its own name and tier.
 *
 * @throws INVALID_ARGUMENT for a secret that is too short
 */
export function createRunTokens(options: RunTokensOptions): RunTokens {
  checkFields("createRunTokens", options, OPTIONS, ["engine"]);
  const { engine, secret, clock = Date.now } = options;
  const secrets = secret instanceof Uint8Array ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(isSecret)) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `createRunTokens: secret must be at least ${SECRET_BYTES} random bytes, or a list of such. Draw them with crypto.getRandomValues and keep them.`,
    );
  }
  const keys = secrets.map((bytes) =>
    crypto.subtle.importKey("raw", bytes as Uint8Array<ArrayBuffer>, { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
      "verify",
    ]),
  );

  return {
    async issue(grant) {
      checkFields("A grant", grant, GRANT, ["episode", "source"]);
      const { namespace = DEFAULT_NAME, episode, source, tier = "self-reported", weight, ttl = DAY } = grant;
      const claims: Claims = {
        v: FORMAT,
        n: namespace,
        e: episode,
        s: source,
        t: tier,
        w: weight ?? null,
        x: clock() + ttl,
        k: crypto.randomUUID(),
      };
      const body = encoder.encode(JSON.stringify(claims));
      const signature = await crypto.subtle.sign("HMAC", await (keys[0] as (typeof keys)[number]), body);
      return `${toBase64Url(body)}.${toBase64Url(new Uint8Array(signature))}`;
    },

    async report(token, outcome) {
      checkObject(outcome, "An outcome");
      for (const name of ["tier", "source", "weight", "idempotencyKey"]) {
        if (!(name in outcome)) continue;
        throw illegalOption(name, `${name} is fixed by the token, and must be left out of the outcome`, "a value");
      }
      // As it is now: looking at the token takes a moment, in which its lists may be used again.
      const { reward, helpful, harmful, neutral, used, note } = checkOutcome(outcome);
      const { n, e, s, t, w, x, k } = await genuine(token);
      if (clock() > x) throw invalid("is past its time", "expired");
      const said = { reward, helpful, harmful, neutral, used, note };
      const decided = { tier: t, source: s, weight: w ?? undefined, idempotencyKey: `token:${k}` };
      return engine.report(e, { ...said, ...decided }, { namespace: n });
    },
  };

  /** @throws INVALID_TOKEN */
  async function genuine(token: string): Promise<Claims> {
    const parts = typeof token === "string" && token.length <= MAX_TOKEN ? token.split(".") : [];
    const [body, signature] = parts.map(fromBase64Url);
    if (parts.length !== 2 || !body || !signature) throw invalid("is no run token", "format");
    for (const key of keys) {
      // Compares in constant time.
      if (!(await crypto.subtle.verify("HMAC", await key, signature, body))) continue;
      const claims = JSON.parse(decoder.decode(body)) as Claims;
      if (claims.v !== FORMAT) throw invalid("is of another version", "version");
      return claims;
    }
    throw invalid("is not genuine", "signature");
  }
}

function isSecret(secret: unknown): boolean {
  return secret instanceof Uint8Array && secret.length >= SECRET_BYTES;
}

/** Never quotes the token: a message may be logged. */
function invalid(what: string, reason: string): QavrError {
  return new QavrError("INVALID_TOKEN", `The run token ${what}. Ask for a new one where the run was started.`, {
    details: { reason },
  });
}

function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Undefined for a text that is no base64url. */
function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]+$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (unit) => unit.charCodeAt(0));
    // The unused bits of the last character may be anything: only one text stands for these bytes.
    return toBase64Url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
