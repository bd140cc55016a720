import { dataOf } from "../../domain/events.ts";
import { memberErasure } from "../../domain/personal/erasure.ts";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import { audit } from "../../projections/audit.ts";
import { accountStream } from "../accounts/accounts.ts";
import { commitmentsIn, erasePersonalData, erasureStream, isOf, type PersonalData } from "../erasure/personal-data.ts";
import type { NotYet, Reaction } from "../following/reaction.ts";
import type { Envelope } from "../streams/envelope.ts";
import { foldStream, runCommand } from "../streams/run-command.ts";
import { pagesOf } from "../streams/stream-pages.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import { type AuditSources, eventOf } from "./records.ts";
import { searchAudit } from "./search.ts";

export type MemberErasuresDeps = {
  readonly log: EventLog;
  readonly views: AuditSources["views"];
  readonly progress: Pick<ViewProgress, "waitFor">;
  readonly personal: Pick<PersonalData, "keep">;
};

type Erased = { readonly erasedAt: string; readonly position: Position };

const PAGE = 100;
const VIEW_WAIT_MS = 2_000;
const NAMING: readonly string[] = ["MemberInvited", "MemberAdded"];
const LEAVING: readonly string[] = ["InvitationWithdrawn", "MemberRemoved"];

/**
 * The records of the account's stream that name the person's address: those of the member, and those of other ids that
 * the same address was invited or added under before. None if the account never had this member.
 */
const recordsOfPerson = async (
  log: Pick<EventLog, "read">,
  { account, member, at }: { readonly account: string; readonly member: string; readonly at: string },
): Promise<readonly RecordedEvent[]> => {
  const naming: RecordedEvent[] = [];
  const present = new Set<unknown>();
  for await (const page of pagesOf(log, accountStream(account), null, PAGE))
    for (const record of page) {
      const { type, data } = record;
      if (NAMING.includes(type)) naming.push(record);
      if (type === "MemberAdded" || (type === "MemberInvited" && String(data.expires_at) > at))
        present.add(data.member);
      if (LEAVING.includes(type)) present.delete(data.member);
    }
  const addresses = new Set(naming.flatMap(({ data }) => (data.member === member ? [data.address] : [])));
  const isErased = (id: unknown): boolean => id === member || !present.has(id);
  // An id with which the person is a member again, or is invited again, is erased by an erasure of its own.
  return naming.filter(({ data }) => addresses.has(data.address) && isErased(data.member));
};

const envelopeOf = ({ id: causationId, meta }: RecordedEvent, member: string, id: string): Envelope => ({
  // The request and the reaction use the same command id, so that the second of them appends nothing.
  commandId: `erasure-${member}/${id}`,
  account: meta.account,
  actor: meta.actor,
  trace: { trace_id: meta.trace_id, span_id: meta.span_id },
  at: meta.recorded_at,
  causationId,
});

/** Erases what the record names of the member: it may also name another person's data, such as an invited person's. */
const eraseIn = async (
  log: EventLog,
  cause: RecordedEvent,
  record: RecordedEvent,
  owner: string = dataOf("MemberErased", cause).member,
): Promise<void> => {
  const { member, reason } = dataOf("MemberErased", cause);
  for (const { id } of commitmentsIn(record.data)) {
    if (await isOf(log, id, { account: cause.meta.account, member: owner }))
      await erasePersonalData(log, id, reason, envelopeOf(cause, member, id));
  }
};

/** Finds the data by the records that the member caused. While the view of them lags, the rest is erased later. */
const eraseAll = async (
  { log, views, progress }: MemberErasuresDeps,
  cause: RecordedEvent,
  isStopping: () => boolean,
): Promise<NotYet | undefined> => {
  const { account } = cause.meta;
  const { member, at } = dataOf("MemberErased", cause);
  for (const record of await recordsOfPerson(log, { account, member, at }))
    await eraseIn(log, cause, record, String(record.data.member));
  const { name } = audit.schema;
  const end = (await log.head("records")) ?? cause.position;
  const isWhole = await progress.waitFor([name], end, VIEW_WAIT_MS);
  const filter = { account, actor: member, from: null, to: null, order: "asc" } as const;
  for (let after: number | null = null; !isStopping(); ) {
    const page = await searchAudit({ views, log }, { ...filter, after }, PAGE);
    for (const record of page) await eraseIn(log, cause, await eventOf(log, record));
    after = page.at(-1)?.index ?? null;
    if (page.length < PAGE) break;
  }
  return isWhole ? undefined : { waitsFor: `the view ${name} to reach ${end}: until then data is left` };
};

/**
 * Erases all personal data of a member: the address, the addresses and browsers of their calls, and what they wrote.
 * Null if the account never had the member. A repeat erases what a call that was under way has left.
 */
export const eraseMember = async (
  deps: MemberErasuresDeps,
  member: string,
  reason: string,
  envelope: Envelope,
): Promise<Erased | null> => {
  const { log, personal } = deps;
  const { account, at } = envelope;
  if ((await recordsOfPerson(log, { account, member, at })).length === 0) return null;
  const stream = erasureStream(member);
  const from = await foldStream(log, memberErasure, stream);
  if (from.state.erasedAt === null) {
    const words = await personal.keep(stream, reason, envelope);
    const command = { type: "EraseMember", account, member, reason: words, at } as const;
    await runCommand(log, { decider: memberErasure, stream, from, command, envelope });
  }
  const cause = await log.last(stream);
  if (cause === null) throw new Error(`the erasure of ${member} was recorded, and is not in its stream`);
  await eraseAll(deps, cause, () => false);
  return { erasedAt: dataOf("MemberErased", cause).at, position: cause.position };
};

/** Completes an erasure after a crash, and after a view was late. */
export const memberErasureReactions = (deps: MemberErasuresDeps): readonly Reaction[] => [
  { on: "MemberErased", run: (cause, isStopping = () => false) => eraseAll(deps, cause, isStopping) },
];
