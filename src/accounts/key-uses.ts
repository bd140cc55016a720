import { apiKey, isFirstUse } from "../../domain/account/api-key.ts";
import { dayIn } from "../../domain/calendar.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Authenticate } from "../http/authenticate.ts";
import { type Aggregates, STALENESS_MAX_MS } from "../streams/aggregates.ts";
import { type Envelope, NO_TRACE } from "../streams/envelope.ts";
import type { AccountTerms } from "./account-terms.ts";
import { apiKeyStream } from "./credentials.ts";

type KeyUsesDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly timeZoneOf: AccountTerms["timeZoneOf"];
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

/** While a log takes no appends, calls that only read do not each try one. */
const PAUSE_MS = 60_000;

/**
 * As `authenticate`, and records the first use of an API key on each day. The call waits for the record, so what the call
 * does comes after it in the log; a call is not refused because its use could not be recorded.
 */
export const recordingKeyUses = (
  authenticate: Authenticate,
  { aggregates, timeZoneOf, clock, onError }: KeyUsesDeps,
): Authenticate => {
  let pausedUntil = 0;

  const record = async (account: string, id: string): Promise<void> => {
    const now = clock.now();
    const stream = apiKeyStream(id);
    // Both are at hand, as the key has just been authenticated by them.
    const { state } = await aggregates.load(apiKey, stream, STALENESS_MAX_MS);
    const day = dayIn(await timeZoneOf(account), now);
    if (state === null || !isFirstUse(state, day) || now < pausedUntil) return;
    const at = new Date(now).toISOString();
    // Two nodes give the same command, so that a use which both see is one record.
    const commandId = `use-${id}-${day}`;
    const envelope: Envelope = { commandId, account, actor: { kind: "key", id }, trace: NO_TRACE, at };
    try {
      await aggregates.handle(apiKey, stream, { type: "UseApiKey", key_id: id, day, at }, envelope);
    } catch (error) {
      pausedUntil = now + PAUSE_MS;
      onError(error);
    }
  };

  return async (presented) => {
    const principal = await authenticate(presented);
    if (principal?.kind === "key") await record(principal.account, principal.id);
    return principal;
  };
};
