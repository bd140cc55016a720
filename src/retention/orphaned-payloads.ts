import { erasedWith, isErasedAt } from "../../domain/delivery/erased.ts";
import type { ErasedUpTo } from "../../domain/delivery/events.ts";
import type { PayloadEvent } from "../../domain/delivery/payload-events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { eraseLeft } from "../erasure/erasures.ts";
import { fencedAdmission } from "../ledgers/fence.ts";
import { systemEnvelope } from "../streams/envelope.ts";
import { type AgedLog, agedRecords, type Sweep } from "./aged-records.ts";

const KEPT: readonly PayloadEvent["type"][] = ["PayloadKept", "PayloadPartKept"];
const AGE_MS = 24 * 60 * 60 * 1_000;
const PAGE = 20;
const PAYLOAD = "payload-";

const FOLLOW_ERASURE: ReadonlySet<string> = new Set([
  "PayloadErased",
  "BundlePayloadErased",
  "DuplicatesCounted",
  "DeliveryIdReused",
]);

const isOrphan = ({ revision }: RecordedEvent, last: RecordedEvent | null): boolean => {
  if (last === null) return true;
  if (last.type !== "PayloadErased" && last.type !== "BundlePayloadErased") return false;
  return !isErasedAt(erasedWith(null, last.data as { readonly up_to: ErasedUpTo }), revision);
};

/**
 * A request that died before its verdict leaves a payload that no view knows. A fence in the stream in which the
 * verdict would be ends the event, so that retention finds the payload.
 */
export const orphanedPayloads = (
  log: EventLog & AgedLog,
  clock: Clock,
  randomness: Randomness,
  onError: (error: unknown) => void,
): Sweep => {
  const kept = agedRecords(log, clock, {
    stream: "checkpoint-payloads",
    type: "PayloadsSwept",
    types: KEPT,
    ageMs: AGE_MS,
    page: PAGE,
    onError,
  });

  const fence = async (id: string, account: string): Promise<boolean> => {
    const at = new Date(clock.now()).toISOString();
    const envelope = systemEnvelope({ actor: "retention", commandId: randomId("cmd_", randomness), account, at });
    const { isFenced } = await fencedAdmission(log, id, envelope);
    return isFenced;
  };

  return {
    sweep: (isStopping) =>
      kept.sweep(isStopping, async (record) => {
        const id = record.stream.slice(PAYLOAD.length);
        const last = await log.last(`${id.startsWith("bun_") ? "bundle" : "delivery"}-${id}`);
        if (isOrphan(record, last) && (await fence(id, record.meta.account))) return true;
        // Retention erases an event's payload once, so one that was stored after that is erased here.
        return last !== null && FOLLOW_ERASURE.has(last.type) && (await eraseLeft(log, id));
      }),
  };
};
