import type { AccountEvent, EmailEvent } from "../../domain/account/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Reaction } from "../following/reactor.ts";
import { causedEnvelope, type Envelope } from "../streams/envelope.ts";
import type { Accounts } from "./accounts.ts";

type DataOf<E extends { type: string; data: unknown }, T extends E["type"]> = Extract<E, { type: T }>["data"];

/** Finishes what a crash between two streams of an account has left; most of the time everything is done already. */
export const accountReactions = (accounts: Accounts, clock: Clock): readonly Reaction[] => {
  const envelopeOf = (cause: RecordedEvent): Envelope =>
    causedEnvelope(cause, {
      actor: "accounts",
      commandId: `react-${cause.id}`,
      at: new Date(clock.now()).toISOString(),
    });

  return [
    {
      on: "EmailClaimed",
      async run(event) {
        // The type of a recorded event says what its data are.
        await accounts.finishClaim(event.data as DataOf<EmailEvent, "EmailClaimed">, envelopeOf(event));
      },
    },
    {
      on: "MemberRemoved",
      async run(event) {
        const { account, member: id, email } = event.data as DataOf<AccountEvent, "MemberRemoved">;
        await accounts.releaseEmail({ account, id, email }, envelopeOf(event));
      },
    },
  ];
};
