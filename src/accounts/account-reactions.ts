import type { Clock } from "../../domain/ports/clock.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import { causedEnvelope, type Envelope } from "../streams/envelope.ts";
import type { Accounts } from "./accounts.ts";

/** A change that spans two streams takes two appends. If a crash comes in between, these reactions complete it. */
export const accountReactions = (accounts: Accounts, clock: Clock): readonly Reaction[] => {
  const envelopeOf = (cause: RecordedEvent): Envelope =>
    causedEnvelope(cause, {
      actor: "accounts",
      commandId: `react-${cause.id}`,
      at: new Date(clock.now()).toISOString(),
    });

  return [
    reaction("EmailClaimed", async (claim, cause) => {
      await accounts.finishClaim(claim, envelopeOf(cause));
    }),
    reaction("MemberRemoved", ({ account, member: id, address }, cause) =>
      accounts.releaseEmail({ account, id, address }, envelopeOf(cause)),
    ),
  ];
};
