import type { EventLog } from "../../domain/ports/event-log.ts";

export type RecordText = { readonly id: string; readonly type: string; readonly data: string; readonly meta: string };

export type Records = { readonly payload: RecordText; readonly admitted: RecordText };

export const recordsOf = async (log: Pick<EventLog, "read">, eventId: string): Promise<Records> => {
  const first = async (category: string): Promise<RecordText> => {
    const [event] = await log.read(`${category}-${eventId}`, null, 1);
    if (event === undefined) throw new Error(`the log has no ${category}-${eventId}`);
    const { id, type, data, meta } = event;
    return { id, type, data: JSON.stringify(data), meta: JSON.stringify(meta) };
  };
  return { payload: await first("payload"), admitted: await first("delivery") };
};
