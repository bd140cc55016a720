import type { Clock } from "../../domain/ports/clock.ts";
import { type Problem, problem } from "../streams/problems.ts";
import { AccountWork } from "./account-work.ts";

/** Bytes of definitions. Compiling takes 8 µs a byte at worst, so an account may use 2 s of a thread in a minute. */
const BYTES_PER_MINUTE = 262_144;
const MINUTE_MS = 60_000;

export type DefinitionRate = (account: string, definition: unknown) => Problem | null;

export const definitionRate = (clock: Clock): DefinitionRate => {
  const work = new AccountWork(BYTES_PER_MINUTE, clock, MINUTE_MS);
  return (account, definition) => {
    if (!work.has(account)) {
      const detail =
        "This account has sent as many bytes of policies and actions as it may in a minute: send it again.";
      return problem("rate-limited", detail, { retryAfterS: work.resetS() });
    }
    work.add(account, Buffer.byteLength(JSON.stringify(definition) ?? ""));
    return null;
  };
};
