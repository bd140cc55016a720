import { iso } from "../../domain/calendar.ts";
import type { Origin } from "../../domain/delivery/events.ts";
import { type Paid, paidOf } from "../../domain/delivery/state.ts";
import { isLoopLedger } from "../../domain/ledger/loop.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { systemEnvelope } from "../streams/envelope.ts";
import { fencedAdmission } from "./fence.ts";
import { holdOf, isHeldLedger } from "./held-places.ts";
import type { OrphanDeps, PlaceStatus } from "./orphaned-places.ts";
import { slotHolderOf } from "./slot-holders.ts";

type Holder = {
  readonly request: { readonly origin: Origin; readonly ledgers?: readonly string[] };
  /** In micro-euros; null if the request is not charged, undefined while that is unknown. */
  readonly spent?: number | null;
  /** The cost determined before the last replay; the replay may hold no places, or places in other ledgers. */
  readonly paid: Paid | null;
};

export const LEASE_PREFIX = "lease_";

const STEP_PLACE = /^bun_\w+\/\d+$/;

export const stepPlace = (bundleId: string, index: number): string => `${bundleId}/${index}`;

const isStepPlace = (holder: string): boolean => STEP_PLACE.test(holder);

const statusFor = ({ request, spent, paid }: Holder, ledger: string): PlaceStatus => {
  const { origin, ledgers } = request;
  if (paid?.ledgers.includes(ledger) === true) return { spent: paid.cost };
  if (ledgers?.includes(ledger) !== true) {
    const isPaid = isLoopLedger(ledger) || (origin.kind === "source" && ledgers === undefined);
    // A place of another day or policy was reserved by a request that died before the admitted one.
    return isPaid ? "spent" : "free";
  }
  if (spent === undefined) return "kept";
  return spent === null ? "free" : { spent };
};

/** A request that is only slow conflicts with the fence and reserves again, so its place can be given back. */
export const placeStatus =
  (log: EventLog, clock: Clock, randomness: Randomness): OrphanDeps["placeStatus"] =>
  async (account, holder, ledger) => {
    // A step whose payload has earlier results spends its place by asking for it, even if its bundle fails.
    if (isStepPlace(holder) || holder.startsWith(LEASE_PREFIX)) return "spent";
    const at = iso(clock.now());
    const envelope = systemEnvelope({ actor: "ledger", commandId: randomId("cmd_", randomness), account, at });
    const thing = slotHolderOf(holder);
    if (thing !== undefined) return (await thing.keepsSlot(log, holder, envelope)) ? "kept" : "free";
    if (isHeldLedger(ledger)) {
      const hold = await holdOf(log, holder);
      if (hold !== "undecided") return hold === "held" ? "kept" : "free";
    }
    const { isFenced, state } = await fencedAdmission(log, holder, envelope);
    // An agent's request that reached no receiver is fenced against a replay, but still counts for the loop's limit.
    if (isFenced) return "request" in state && isLoopLedger(ledger) ? "spent" : "free";
    if (isHeldLedger(ledger)) return state.phase === "held" ? "kept" : "free";
    if (!("request" in state)) return "spent";
    return statusFor({ ...state, paid: "replays" in state ? paidOf(state) : null }, ledger);
  };
