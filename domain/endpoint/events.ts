import type { Sealed } from "../sealed.ts";

/** A header that the owner adds to every delivery. Its value is sealed because it is often a credential. */
export type OwnHeader = {
  readonly sealed: Sealed;
  /**
   * Hex HMAC-SHA-256 of name and value under a key of the account; an approval is bound to it. Null for a secret
   * header, where an approval is bound to the name alone.
   */
  readonly digest: string | null;
};

export type EndpointSettings = {
  readonly name: string;
  readonly url: string;
  readonly timeout_ms: number;
  /** Seconds between attempts; the length is the number of retries. */
  readonly retry_schedule_s: readonly number[];
  readonly concurrency: number;
  readonly rate_per_second: number | null;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, OwnHeader>>;
  readonly notifications: readonly string[];
  /** A policy that every request to the endpoint has to pass; left out or null for none. */
  readonly policy_id?: string | null;
};

export type OpenReason = "failures-in-a-row" | "failure-rate";

/** The counts of the node that records the event; attempts and failures are those of the last five minutes. */
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
  /**
   * An approval bound to the names of its secret headers is about to be requested: from now on only a person changes
   * their values.
   */
  | { readonly type: "EndpointPutUnderApproval"; readonly data: { readonly endpoint_id: string; readonly at: string } }
  | {
      readonly type: "EndpointSecretRotated";
      readonly data: {
        readonly endpoint_id: string;
        readonly secret: Sealed;
        /** Until then deliveries are also signed with the previous secret. */
        readonly previous_until: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "EndpointDisabled";
      readonly data: { readonly endpoint_id: string; readonly reason: string; readonly at: string };
    }
  | {
      readonly type: "EndpointDegraded";
      readonly data: Counts & { readonly endpoint_id: string; readonly at: string };
    }
  /** From now on events wait, while single probes are sent. */
  | {
      readonly type: "EndpointOpened";
      readonly data: Counts & {
        readonly endpoint_id: string;
        readonly reason: OpenReason;
        /** When the first of the consecutive failures ended. */
        readonly failing_since: string;
        readonly next_probe_at: string;
        readonly at: string;
      };
    }
  /** Written before the probe is sent, so that the next probe is due even if this node crashes. */
  | {
      readonly type: "EndpointProbed";
      readonly data: {
        readonly endpoint_id: string;
        readonly event_id: string;
        /** 1-based, since the circuit opened. */
        readonly probe: number;
        readonly next_probe_at: string;
        readonly at: string;
      };
    }
  /** The receiver asked for a later probe (Retry-After). */
  | {
      readonly type: "EndpointProbeDeferred";
      readonly data: { readonly endpoint_id: string; readonly next_probe_at: string; readonly at: string };
    }
  /** Half the time until the endpoint is disabled has passed. */
  | {
      readonly type: "EndpointWarned";
      readonly data: {
        readonly endpoint_id: string;
        readonly failing_since: string;
        /** The earliest time; a success before then prevents it. */
        readonly disables_at: string;
        readonly at: string;
      };
    }
  /** `since`: when it was degraded or opened. */
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
