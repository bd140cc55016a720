import { PLANS, type Plan } from "../../domain/account/plans.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { SlotKind } from "../../domain/slot.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { type Ledgers, ledgers } from "../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../src/ledgers/place-status.ts";
import { type Slots, slots } from "../../src/ledgers/slots.ts";
import type { Aggregates } from "../../src/streams/aggregates.ts";

const ledgersOn = (log: EventLog, clock: Clock): Ledgers => {
  const onError = (error: unknown): never => {
    throw error;
  };
  return ledgers({
    ...{ log, clock, randomness, onError },
    placeStatus: placeStatus(log, clock, randomness),
    orphanAgeMs: 0,
  });
};

/** The limits of a plan on what an account has, as a node has them that is alone on its log. */
export const planSlots = (log: EventLog, clock: Clock, aggregates: Aggregates, plan: Plan = PLANS.scale): Slots =>
  slots({ ledgers: ledgersOn(log, clock), aggregates, planOf: async () => plan });

/** How many slots the log says are taken. */
export const slotsTaken = async (log: EventLog, clock: Clock, account: string, kind: SlotKind): Promise<number> =>
  (await ledgersOn(log, clock).figures(`ledger-${account}-${kind}`, account)).open;
