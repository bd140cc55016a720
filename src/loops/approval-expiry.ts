import { approval } from "../../domain/approval/decider.ts";
import type { Clock, Found, ViewStore } from "../../domain/ports.ts";
import { approvals } from "../../projections/approvals.ts";
import type { Aggregates } from "../aggregates.ts";
import { approvalStream } from "../approvals.ts";
import { NO_TRACE } from "../envelope.ts";
import { looking } from "./looking.ts";

export type ApprovalExpiry = {
  start(): void;
  /** Finishes the approval in hand. */
  stop(): Promise<void>;
  /** Ends what is due now; how many that were. */
  look(): Promise<number>;
};

export type ApprovalExpiryDeps = {
  readonly views: Pick<ViewStore, "page">;
  readonly aggregates: Pick<Aggregates, "handle">;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
};

/** An approval is over at its time whether or not this loop has looked: it only writes down what is so already. */
const LOOK_MS = 1_000;
/** Held in memory at once. */
const PAGE = 200;

const SORT = { field: "expires_at", order: "asc" } as const;

/**
 * The timer of approvals: what is pending in the view and past its time ends. The view may be behind, and every node has
 * this loop: the approval's own stream decides, and the same command again is the same.
 */
export const approvalExpiry = ({ views, aggregates, clock, onError }: ApprovalExpiryDeps): ApprovalExpiry => {
  const expire = async ({ id, document }: Found): Promise<boolean> => {
    const at = new Date(clock.now()).toISOString();
    const envelope = {
      commandId: `expire-${id}`,
      account: String(document.account),
      actor: { kind: "system", id: "approvals" },
      trace: NO_TRACE,
      at,
    } as const;
    const done = await aggregates.handle(approval, approvalStream(id), { type: "ExpireApproval", at }, envelope);
    return done.outcome === "accepted";
  };

  const look = async (): Promise<number> => {
    const now = new Date(clock.now()).toISOString();
    const where = [
      { field: "status", is: "=", value: "pending" },
      { field: "expires_at", is: "<=", value: now },
    ] as const;
    let expired = 0;
    let last: Found | undefined;
    for (;;) {
      const after = last === undefined ? {} : { after: { value: String(last.document.expires_at), id: last.id } };
      const due = await views.page(approvals.schema.name, { where, sort: SORT, limit: PAGE, ...after });
      for (const found of due) {
        if (looks.isStopping()) return expired;
        if (await expire(found)) expired += 1;
      }
      last = due.at(-1);
      if (due.length < PAGE) return expired;
    }
  };

  const looks = looking(look, LOOK_MS, onError);

  return { start: looks.start, stop: looks.stop, look };
};
