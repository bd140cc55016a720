import type { Sealed } from "../sealed.ts";

/** A header that an endpoint's owner adds to every delivery. The value is sealed: it often is a credential. */
export type OwnHeader = {
  readonly sealed: Sealed;
  /**
   * Hex HMAC-SHA-256 of name and value under a key of the account, by which an approval is bound to the value. Null for a
   * secret header: an approval is bound to its name alone.
   */
  readonly digest: string | null;
};

export type EndpointSettings = {
  readonly name: string;
  readonly url: string;
  readonly timeout_ms: number;
  /** Seconds between one attempt and the next; its length is the number of retries. */
  readonly retry_schedule_s: readonly number[];
  readonly concurrency: number;
  readonly rate_per_second: number | null;
  /** Sent with every delivery, by their names in lower case. */
  readonly headers: Readonly<Record<string, OwnHeader>>;
  readonly notifications: readonly string[];
  /** A policy that whatever goes to the endpoint has to pass, whoever asks; left out or null for none. */
  readonly policy_id?: string | null;
};

export type OpenReason = "failures-in-a-row" | "failure-rate";

/** What the node that says so had counted: failures in a row, and of the last five minutes. */
type Counts = { readonly consecutive_failures: number; readonly attempts: number; readonly failed: number };

export type EndpointEvent =
  | {
      readonly type: "EndpointRegistered";
      readonly data: EndpointSettings & {
        readonly endpoint_id: string;
        readonly account: string;
        readonly secret: Sealed;
        readonly at: string;
      };
    }
  | {
      readonly type: "EndpointChanged";
      readonly data: {
        readonly endpoint_id: string;
        readonly changes: Partial<EndpointSettings>;
        /** The secret headers whose values are new; missing for none. */
        readonly secret_headers?: readonly string[];
        readonly at: string;
      };
    }
  /** An approval is about to be asked for that is bound to its secret headers by name: from now on a person changes their values. */
  | { readonly type: "EndpointPutUnderApproval"; readonly data: { readonly endpoint_id: string; readonly at: string } }
  | {
      readonly type: "EndpointSecretRotated";
      readonly data: {
        readonly endpoint_id: string;
        readonly secret: Sealed;
        /** Until then deliveries carry a signature by the secret before this one as well. */
        readonly previous_until: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "EndpointDisabled";
      readonly data: { readonly endpoint_id: string; readonly reason: string; readonly at: string };
    }
  /** Some of its deliveries fail. */
  | {
      readonly type: "EndpointDegraded";
      readonly data: Counts & { readonly endpoint_id: string; readonly at: string };
    }
  /** Its events wait from now on, but for one at a time that finds out how it is. */
  | {
      readonly type: "EndpointOpened";
      readonly data: Counts & {
        readonly endpoint_id: string;
        readonly reason: OpenReason;
        /** When the first of the failures in a row ended. */
        readonly failing_since: string;
        readonly next_probe_at: string;
        readonly at: string;
      };
    }
  /** Written before the probe is sent: the node that writes it makes it, and when it dies the next is made all the same. */
  | {
      readonly type: "EndpointProbed";
      readonly data: {
        readonly endpoint_id: string;
        /** The event that is sent. */
        readonly event_id: string;
        /** 1-based, since it opened. */
        readonly probe: number;
        readonly next_probe_at: string;
        readonly at: string;
      };
    }
  /** The receiver asked not to be called so soon. */
  | {
      readonly type: "EndpointProbeDeferred";
      readonly data: { readonly endpoint_id: string; readonly next_probe_at: string; readonly at: string };
    }
  /** Half-way to being disabled. */
  | {
      readonly type: "EndpointWarned";
      readonly data: {
        readonly endpoint_id: string;
        readonly failing_since: string;
        /** No sooner, and only if nothing succeeds until then. */
        readonly disables_at: string;
        readonly at: string;
      };
    }
  /** It takes deliveries again; `since` is when it was found degraded, or was opened. */
  | {
      readonly type: "EndpointRecovered";
      readonly data: {
        readonly endpoint_id: string;
        readonly from: "degraded" | "open";
        readonly since: string;
        readonly at: string;
      };
    }
  | { readonly type: "EndpointEnabled"; readonly data: { readonly endpoint_id: string; readonly at: string } }
  | { readonly type: "EndpointDeleted"; readonly data: { readonly endpoint_id: string; readonly at: string } };
