import type { Metadata, RecordedEvent } from "../domain/ports/event-log.ts";
import { RecordDamaged } from "./log-errors.ts";
import { DAMAGED_TYPE, isErasable, parseStreamName } from "./stream-name.ts";

const NO_META: Metadata = {
  account: "",
  actor: { kind: "system", id: "log" },
  command_id: "",
  trace_id: "0".repeat(32),
  span_id: "0".repeat(16),
  causation_id: null,
  recorded_at: "1970-01-01T00:00:00.000Z",
  schema: 1,
};

/** Replaces a damaged event of an erasable stream, so that reading goes on; any other throws `RecordDamaged`. */
export const damaged = (name: Pick<RecordedEvent, "stream" | "revision" | "id" | "position">): RecordedEvent => {
  if (!isErasable(parseStreamName(name.stream))) throw new RecordDamaged(name);
  return { ...name, type: DAMAGED_TYPE, data: {}, meta: NO_META };
};
