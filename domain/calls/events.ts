import type { Commitment } from "../personal/events.ts";
import type { ReplayFilter } from "../replay/events.ts";

/** Calls of one minute. Several nodes' records of a minute add up. */
type Counted = { readonly minute: string; readonly count: number; readonly at: string };

/** `client`: where the first of them came from (a `Client`). */
type CountedFrom = Counted & { readonly client: Commitment | null };

/** Stream `calls-<subject>`: what was asked for and changed nothing. */
export type CallsEvent =
  | {
      /** Calls of one actor that were refused for one reason. */
      readonly type: "CallsRefused";
      readonly data: CountedFrom & {
        /** The problem's code. */
        readonly problem: string;
        /** Why, as the first caller was told; shortened. */
        readonly detail: string;
        /** Method and path of the route, as `POST /v1/execute`. */
        readonly route: string;
        /** The id in the path, or null. It was only checked where it is also the stream's. */
        readonly target: string | null;
      };
    }
  | {
      /** Of an account: what was refused beyond the kinds that are told apart in a minute, by the problem's code. */
      readonly type: "MoreCallsRefused";
      readonly data: Counted & { readonly counts: Readonly<Record<string, number>> };
    }
  | {
      /**
       * Of a source or an agent: requests that its account's policies, or limits, refused beyond the allowances for records
       * of their own, by gate and code as `quota/quota-reached`.
       */
      readonly type: "RequestsRefused";
      readonly data: Counted & { readonly counts: Readonly<Record<string, number>> };
    }
  | {
      /** Stream `calls-installation`, of no account: refusals where nobody can tell whose account is meant. */
      readonly type: "StrangersRefused";
      readonly data: {
        readonly minute: string;
        /** By the problem's code; `billing-link` for a link that this service has not made. */
        readonly counts: Readonly<Record<string, number>>;
        readonly at: string;
      };
    }
  /** Of an event, an approval or a bundle: its payload was shown to the actor with nothing hidden. */
  | { readonly type: "PayloadRead"; readonly data: CountedFrom & { readonly subject: string } }
  /** Of the actor: what was read beyond the payloads that are told apart in a minute; the ids of the first ones. */
  | { readonly type: "MorePayloadsRead"; readonly data: Counted & { readonly subjects: readonly string[] } }
  /** Of the actor: a dry run. `events`: how many the filter chose the first time. */
  | {
      readonly type: "ReplayTried";
      readonly data: CountedFrom & { readonly filter: ReplayFilter; readonly events: number };
    }
  /** Of an account: repeated deliveries beyond those that are recorded by event in a minute. */
  | {
      readonly type: "MoreRepeatsCounted";
      readonly data: Counted & { readonly duplicates: number; readonly reused: number };
    }
  /** Of an account: dry runs beyond the filters that are told apart in a minute. */
  | { readonly type: "MoreReplaysTried"; readonly data: Counted }
  /** Of an endpoint: a signed test is about to be sent to it. */
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
  /** Of an account: a link to a page of the billing provider was made. */
  | {
      readonly type: "BillingLinkMade";
      readonly data: {
        readonly page: "checkout" | "portal";
        readonly provider: string;
        readonly session_id: string;
        /** Of a checkout; null for the portal. */
        readonly plan: string | null;
        readonly expires_at: string;
        readonly client: Commitment;
        readonly at: string;
      };
    };
