import type { CallsEvent } from "../../domain/calls/events.ts";
import type { Commitment } from "../../domain/evidence/commitment.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import { clientOf, type PersonalData } from "../erasure/personal-data.ts";
import type { Envelope } from "../streams/envelope.ts";
import { runCommand } from "../streams/run-command.ts";
import { callsStream } from "./call-counts.ts";
import { recording } from "./tally-batches.ts";

type RecordedCall = { readonly envelope: Envelope; readonly ip: string; readonly userAgent: string };

/** Resolves with the record's position once it is durable. If the log rejects, the caller must not act. */
export type RecordCall = (
  subject: string,
  call: RecordedCall,
  eventOf: (client: Commitment) => CallsEvent,
) => Promise<Position | undefined>;

export const callRecords =
  (log: EventLog, personal: Pick<PersonalData, "keep">): RecordCall =>
  async (subject, call, eventOf) => {
    const stream = callsStream(subject);
    const client = await personal.keep(stream, clientOf(call), call.envelope);
    const from = { state: null, revision: (await log.last(stream))?.revision ?? null };
    // A repeat under the same Idempotency-Key acts outside the log once more, so it gets a command id and a record of
    // its own.
    const envelope = { ...call.envelope, commandId: `${call.envelope.commandId}/${client.id}/call` };
    const ran = await runCommand(log, { decider: recording, stream, from, command: [eventOf(client)], envelope });
    return ran.outcome === "rejected" ? undefined : ran.position;
  };
