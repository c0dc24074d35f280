import type { LogFields, Logger } from "@qavr/core";

/** Codes and messages of the lines above debug level. */
export function listener(): { codes: string[]; messages: string[]; logger: Logger } {
  const codes: string[] = [];
  const messages: string[] = [];
  const hear = (message: string, { code }: LogFields): void => {
    codes.push(code);
    messages.push(message);
  };
  return { codes, messages, logger: { info: hear, warn: hear, error: hear } };
}
