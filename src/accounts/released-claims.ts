import { isEvent } from "../../domain/events.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { commitmentsIn, erasePersonalData } from "../erasure/personal-data.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import { systemEnvelope } from "../streams/envelope.ts";
import { pagesOf } from "../streams/stream-pages.ts";
import { accountStream } from "./accounts.ts";

const PAGE = 100;

const idsIn = async (
  log: Pick<EventLog, "read">,
  stream: string,
  isRead: (record: Parameters<typeof isEvent>[0]) => boolean,
): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for await (const page of pagesOf(log, stream, null, PAGE))
    for (const record of page) if (isRead(record)) for (const { id } of commitmentsIn(record.data)) ids.add(id);
  return ids;
};

/**
 * Erases the address and the browser of a claim whose member was never added: the claim alone names them, and nobody
 * could ask for their erasure by a member. Those of a member who was added stay until the member is erased.
 */
export const releasedClaimReactions = (log: EventLog): readonly Reaction[] => [
  reaction("EmailReleased", async ({ account, member, at }, cause) => {
    const isClaim = (record: Parameters<typeof isEvent>[0]): boolean =>
      isEvent(record, "EmailClaimed") && record.data.member === member;
    const claimed = await idsIn(log, cause.stream, isClaim);
    if (claimed.size === 0) return;
    const named = await idsIn(log, accountStream(account), () => true);
    for (const id of claimed) {
      if (named.has(id)) continue;
      const commandId = `released-${cause.id}/${id}`;
      const envelope = { ...systemEnvelope({ actor: "accounts", commandId, account, at }), causationId: cause.id };
      await erasePersonalData(log, id, "the member was not added", envelope);
    }
  }),
];
