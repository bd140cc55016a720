import type { Commitment } from "../evidence/commitment.ts";
import type { ReplayFilter } from "../replay/events.ts";

/** What a node has counted in one minute; the records of several nodes add up. */
type Counted = { readonly minute: string; readonly count: number; readonly at: string };

type CountedFrom = Counted & { readonly client: Commitment | null };

/** Stream `calls-<subject>`: calls that changed nothing in the log, and calls about to act outside of it. */
export type CallsEvent =
  | {
      readonly type: "CallsRefused";
      readonly data: CountedFrom & {
        readonly problem: string;
        readonly detail: string;
        readonly route: string;
        /** The id in the request's path, or null. Nobody has checked it, unless it is the id of the stream. */
        readonly target: string | null;
      };
    }
  | {
      /** Calls refused in a minute, beyond the kinds with a record of their own; counted by problem code. */
      readonly type: "MoreCallsRefused";
      readonly data: Counted & { readonly counts: Readonly<Record<string, number>> };
    }
  | {
      /** Requests that gates refused without a record of their own, by gate and code (`quota/quota-reached`). */
      readonly type: "RequestsRefused";
      readonly data: Counted & { readonly counts: Readonly<Record<string, number>> };
    }
  | {
      /** Stream `calls-installation`: refusals that belong to no account. */
      readonly type: "StrangersRefused";
      readonly data: {
        readonly minute: string;
        /** Counts by problem code; `billing-link` stands for a link that this service has not made. */
        readonly counts: Readonly<Record<string, number>>;
        readonly at: string;
      };
    }
  /** The actor read the payload of an event, approval or bundle with nothing hidden. */
  | { readonly type: "PayloadRead"; readonly data: CountedFrom & { readonly subject: string } }
  /** Reads of payloads in a minute without a record of their own, with the ids of the first things read. */
  | { readonly type: "MorePayloadsRead"; readonly data: Counted & { readonly subjects: readonly string[] } }
  | {
      readonly type: "ReplayTried";
      readonly data: CountedFrom & { readonly filter: ReplayFilter; readonly events: number };
    }
  /** Repeated deliveries in a minute without a record of their own (`DuplicatesCounted`, `DeliveryIdReused`). */
  | {
      readonly type: "MoreRepeatsCounted";
      readonly data: Counted & { readonly duplicates: number; readonly reused: number };
    }
  | { readonly type: "MoreReplaysTried"; readonly data: Counted }
  | {
      readonly type: "EndpointTestSent";
      readonly data: {
        readonly endpoint_id: string;
        readonly webhook_id: string;
        readonly url: string;
        readonly client: Commitment;
        readonly at: string;
      };
    }
  | {
      readonly type: "BillingLinkMade";
      readonly data: {
        readonly page: "checkout" | "portal";
        readonly provider: string;
        readonly session_id: string;
        readonly plan: string | null;
        readonly expires_at: string;
        readonly client: Commitment;
        readonly at: string;
      };
    };
