import type { Commitment } from "../personal/events.ts";
import type { ReplayFilter } from "../replay/events.ts";

/** Counts of one minute; the records of several nodes add up. */
type Counted = { readonly minute: string; readonly count: number; readonly at: string };

type CountedFrom = Counted & { readonly client: Commitment | null };

/** Stream `calls-<subject>`: calls that changed nothing. */
export type CallsEvent =
  | {
      readonly type: "CallsRefused";
      readonly data: CountedFrom & {
        readonly problem: string;
        readonly detail: string;
        readonly route: string;
        /** The id in the path, or null. It was only checked if the stream has the same id. */
        readonly target: string | null;
      };
    }
  | {
      /** Refusals beyond the kinds that are recorded singly in a minute, by problem code. */
      readonly type: "MoreCallsRefused";
      readonly data: Counted & { readonly counts: Readonly<Record<string, number>> };
    }
  | {
      /** Requests refused beyond the singly recorded ones, by gate and code as `quota/quota-reached`. */
      readonly type: "RequestsRefused";
      readonly data: Counted & { readonly counts: Readonly<Record<string, number>> };
    }
  | {
      /** Stream `calls-installation`: refusals that belong to no account. */
      readonly type: "StrangersRefused";
      readonly data: {
        readonly minute: string;
        /** By problem code; `billing-link` for a link that this service has not made. */
        readonly counts: Readonly<Record<string, number>>;
        readonly at: string;
      };
    }
  /** The actor read the payload of an event, approval or bundle with nothing hidden. */
  | { readonly type: "PayloadRead"; readonly data: CountedFrom & { readonly subject: string } }
  /** Reads beyond the singly recorded ones of a minute, with the ids of the first of them. */
  | { readonly type: "MorePayloadsRead"; readonly data: Counted & { readonly subjects: readonly string[] } }
  | {
      readonly type: "ReplayTried";
      readonly data: CountedFrom & { readonly filter: ReplayFilter; readonly events: number };
    }
  /** Repeated deliveries beyond the singly recorded ones of a minute. */
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
