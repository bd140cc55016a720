import type { EventLog } from "../../domain/ports/event-log.ts";
import { toEvents } from "../../src/streams/envelope.ts";

const TRACE = { trace_id: "0".repeat(31) + 1, span_id: "0".repeat(15) + 1 };

/** The records that lead from API keys to the member who made them: each key of an account that a test calls with has one. */
export const issueKeys = async (
  log: Pick<EventLog, "append">,
  keys: readonly { readonly account: string; readonly id: string }[],
  made_by = "mem_a",
): Promise<void> => {
  const at = "2026-03-01T00:00:00.000Z";
  for (const { account, id } of keys) {
    const envelope = {
      commandId: `issue-${id}`,
      account,
      actor: { kind: "member", id: made_by },
      trace: TRACE,
      at,
    } as const;
    const data = { account, key_id: id, made_by, at };
    await log.append(`apikey-${id}`, "absent", toEvents([{ type: "ApiKeyIssued", data }], envelope));
  }
};
