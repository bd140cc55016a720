import type { JsonObject } from "../../domain/json.ts";
import type { EventLog, NewEvent } from "../../domain/ports/event-log.ts";

const META = {
  account: "acc_1",
  actor: { kind: "system", id: "test" },
  command_id: "test",
  trace_id: "0".repeat(32),
  span_id: "0".repeat(16),
  causation_id: null,
  recorded_at: "2026-01-01T00:00:00.000Z",
  schema: 1,
} as const;

export const numbered = (n: number, data: JsonObject, type = "Counted"): NewEvent => ({
  id: `event-${n}`,
  type,
  data: { n, ...data },
  meta: META,
});

/** Appends events with the numbers `from` to `to`, as what `dataOf` makes of them, and returns the last position. */
export const appendNumbered = async (
  log: EventLog,
  from: number,
  to: number,
  dataOf: (n: number) => JsonObject = () => ({}),
): Promise<string> => {
  let position = "";
  for (let n = from; n <= to; n += 1) {
    const appended = await log.append(`source-${n % 3}`, "any", [numbered(n, dataOf(n))]);
    if (appended.outcome === "appended") position = appended.position;
  }
  return position;
};
