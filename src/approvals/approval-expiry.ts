import { approval } from "../../domain/approval/decider.ts";
import { isEvent } from "../../domain/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { FoundDocument, ViewStore } from "../../domain/ports/view-store.ts";
import { approvals } from "../../projections/approvals.ts";
import { pollLoop } from "../following/poll-loop.ts";
import type { Reaction } from "../following/reaction.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { systemEnvelope } from "../streams/envelope.ts";
import { pagesIn } from "../views/typed-documents.ts";
import { approvalStream } from "./approvals.ts";

export type ApprovalExpiry = {
  start(): void;
  stop(): Promise<void>;
  expireDue(): Promise<number>;
  pending(): number;
  readonly reactions: readonly Reaction[];
};

export type ApprovalExpiryDeps = {
  readonly log: Pick<EventLog, "readTypes" | "head" | "identity" | "onAppended">;
  readonly views: Pick<ViewStore, "page" | "position" | "origin">;
  readonly aggregates: Pick<Aggregates, "handle">;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

/** Milliseconds. An approval ends at its time in any case; this loop only records that it has ended. */
const INTERVAL_MS = 1_000;
const PAGE = 200;
/** An approval takes some hundred bytes of memory. Those for which there is no room are found in the view only. */
const PENDING_MAX = 50_000;

const VIEW = approvals.schema.name;
const SORT = { field: "expires_at", order: "asc" } as const;
const PENDING = { field: "status", is: "=", value: "pending" } as const;
const TYPES = [
  "ApprovalRequested",
  "ApprovalGranted",
  "ApprovalRejected",
  "ApprovalExpired",
  "ApprovalCancelled",
  "ApprovalVoided",
] as const;

type Pending = { readonly account: string; readonly expiresAt: string };

const pendingIn = ({ document: { account, expires_at } }: FoundDocument): Pending => ({
  account: String(account),
  expiresAt: String(expires_at),
});

/**
 * Every node runs this loop; the approval's stream decides, so a repeat changes nothing. A view that is being rebuilt
 * lists few approvals, so pending ones are also in memory: loaded from the view and the records after it, then updated
 * by the reactions.
 */
export const approvalExpiry = ({ log, views, aggregates, clock, onError }: ApprovalExpiryDeps): ApprovalExpiry => {
  const pending = new Map<string, Pending>();
  let isLoaded = false;
  let loading: Promise<void> | null = null;

  const now = (): string => new Date(clock.now()).toISOString();

  const keep = (id: string, it: Pending): void => {
    if (pending.size < PENDING_MAX) pending.set(id, it);
  };

  const remember = async (event: RecordedEvent): Promise<void> => {
    if (isEvent(event, "ApprovalRequested")) {
      const { approval_id: id, account, expires_at: expiresAt } = event.data;
      keep(id, { account, expiresAt });
    } else pending.delete(String(event.data.approval_id));
  };

  /** The position up to which the view has folded this log; null if it has folded no record of this log. */
  const foldedUpTo = async (): Promise<Position | null> => {
    const [origin, position] = await Promise.all([views.origin(VIEW), views.position(VIEW)]);
    return origin?.log === (await log.identity()) ? position : null;
  };

  async function* listed(until: string | null): AsyncGenerator<FoundDocument> {
    const where = [PENDING, ...(until === null ? [] : [{ field: "expires_at", is: "<=", value: until } as const])];
    for await (const page of pagesIn(views, approvals, { where, sort: SORT, limit: PAGE })) yield* page;
  }

  const load = async (): Promise<void> => {
    const [end, folded] = [await log.head(), await foldedUpTo()];
    for await (const found of listed(null)) {
      if (loop.isStopping() || pending.size >= PENDING_MAX) break;
      keep(found.id, pendingIn(found));
    }
    if (((await foldedUpTo()) ?? "") < (folded ?? "")) throw new Error(`${VIEW} was dropped while it was read`);
    for (let from: Position | null = folded; end !== null && (from ?? "") < end && !loop.isStopping(); ) {
      const { events, upTo } = await log.readTypes(TYPES, from, PAGE);
      for (const event of events) await remember(event);
      if (upTo === null) break;
      from = upTo;
      // The embedded log is read on this thread, so requests get their turn between pages.
      await new Promise((resolve) => setImmediate(resolve));
    }
    isLoaded = true;
  };

  const expire = async (id: string, { account }: Pending): Promise<boolean> => {
    const at = now();
    const envelope = systemEnvelope({ actor: "approvals", commandId: `expire-${id}`, account, at });
    const done = await aggregates.handle(approval, approvalStream(id), { type: "ExpireApproval", at }, envelope);
    if (done.outcome === "accepted") pending.delete(id);
    return done.outcome === "accepted";
  };

  const expireDue = async (): Promise<number> => {
    let expired = 0;
    const due = now();
    for (const [id, it] of pending) {
      if (loop.isStopping()) return expired;
      if (it.expiresAt <= due && (await expire(id, it))) expired += 1;
    }
    for await (const found of listed(due)) {
      if (loop.isStopping()) return expired;
      if (await expire(found.id, pendingIn(found))) expired += 1;
    }
    return expired;
  };

  /** Does not wait for a load, which may take long: approvals that are already known expire meanwhile. */
  const loadAndExpire = async (): Promise<boolean> => {
    if (!isLoaded) {
      loading ??= load()
        .catch(onError)
        .finally(() => {
          loading = null;
        });
    }
    const expired = await expireDue();
    return !isLoaded || expired > 0 || pending.size > 0;
  };

  const loop = pollLoop(loadAndExpire, { everyMs: INTERVAL_MS, onError, log });

  return {
    start: loop.start,
    async stop() {
      await loop.stop();
      await loading;
    },
    expireDue,
    pending: () => pending.size,
    reactions: TYPES.map((on) => ({ on, run: remember })),
  };
};
