import type { Commitment } from "../domain/evidence/commitment.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import type { Document } from "../domain/ports/view-store.ts";
import type { SignatureFailureReason, SourceEvent } from "../domain/source/events.ts";
import { eventOf, type Projection } from "./projection.ts";

/** Counts the requests that a source refused for one reason in one minute. */
export type SignatureFailureDocument = {
  readonly account: string;
  readonly source_id: string;
  readonly minute: string;
  readonly reason: SignatureFailureReason;
  readonly count: number;
  /** The commitment to the address and user agent of the first request; null if its record has none. */
  readonly client: Commitment | null;
};

type RejectsCounted = Extract<SourceEvent, { type: "SourceRejectsCounted" }>;
type Counted = RejectsCounted["data"];

const countedBy = (recorded: RecordedEvent): Counted | null =>
  recorded.type === "SourceRejectsCounted" ? eventOf<RejectsCounted>(recorded).data : null;

const idOf = ({ source_id, minute }: Counted, reason: string): string => `${source_id}/${minute}/${reason}`;

/** Reasons that only a later version knows are counted as well, in spite of the type. */
const reasonsOf = ({ counts }: Counted): readonly (readonly [SignatureFailureReason, number])[] =>
  Object.entries(counts) as [SignatureFailureReason, number][];

/** Each node records its own counts, and this view adds them up. */
export const signatureFailures: Projection<SignatureFailureDocument> = {
  schema: {
    name: "rejections.v2",
    fields: { account: "text", source_id: "text", reason: "text", minute: "text" },
    indexes: [
      ["account", "source_id", "minute"],
      ["account", "source_id", "reason", "minute"],
    ],
  },

  idsOf(event) {
    const counted = countedBy(event);
    return counted === null ? [] : reasonsOf(counted).map(([reason]) => idOf(counted, reason));
  },

  apply(event, documents) {
    const counted = countedBy(event);
    if (counted === null) return;
    const { account } = event.meta;
    const { source_id, minute } = counted;
    for (const [reason, count] of reasonsOf(counted)) {
      const id = idOf(counted, reason);
      const before = documents.get(id);
      const after: SignatureFailureDocument = {
        account,
        source_id,
        minute,
        reason,
        count: (before?.count ?? 0) + count,
        client: before?.client ?? counted.clients[reason] ?? null,
      };
      documents.put(id, after satisfies Document);
    }
  },
};
