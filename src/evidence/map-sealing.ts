import { type KeyMapEvent, keyMapStream, readKeyMapSealed } from "../../domain/evidence/key-map-events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";
import type { MapCandidate } from "./key-maps.ts";

const KEY_MAP_ACTOR = "key-map";

/**
 * Appends the seal of a map. Of several nodes one succeeds: the others expect a revision that its seal has taken, or see
 * it before they have folded it.
 */
export const sealMap = async (
  log: Pick<EventLog, "append" | "last">,
  clock: Clock,
  { account, size, root, after }: MapCandidate,
): Promise<"sealed" | "overtaken"> => {
  const stream = keyMapStream(account);
  const last = await log.last(stream);
  const sealed = last === null ? null : readKeyMapSealed(last.data);
  // A seal without a root, which earlier builds wrote where records had no keys, says nothing, and the next one follows it.
  const isReadable = last === null || sealed !== null;
  if (isReadable && (sealed?.size ?? null) !== after) return "overtaken";
  const fact: KeyMapEvent = { type: "KeyMapSealed", data: { root, size } };
  const at = new Date(clock.now()).toISOString();
  const commandId = `key-map/${account}/${size}/${root}`;
  const events = toEvents([fact], systemEnvelope({ actor: KEY_MAP_ACTOR, account, commandId, at }));
  const { outcome } = await log.append(stream, last?.revision ?? "absent", events);
  return outcome === "appended" ? "sealed" : "overtaken";
};

/** Seals what it is given. What fails, or is overtaken, is offered again as long as the map is due. */
export const mapSealing =
  (log: Pick<EventLog, "append" | "last">, clock: Clock, onError: (error: unknown) => void) =>
  (candidate: MapCandidate): void => {
    sealMap(log, clock, candidate).catch(onError);
  };
