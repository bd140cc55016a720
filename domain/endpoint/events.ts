import type { Sealed } from "../sealed.ts";

/** The value is sealed because it is often a credential. */
export type OwnHeader = {
  readonly sealed: Sealed;
  /** Hex HMAC-SHA-256 of name and value under a key of the account; null for a secret header. */
  readonly digest: string | null;
};

export type EndpointSettings = {
  readonly name: string;
  readonly url: string;
  readonly timeout_ms: number;
  /** Seconds between attempts; there are as many retries as entries. */
  readonly retry_schedule_s: readonly number[];
  readonly concurrency: number;
  readonly rate_per_second: number | null;
  readonly headers: Readonly<Record<string, OwnHeader>>;
  readonly notifications: readonly string[];
  readonly policy_id: string | null;
};

export type OpenReason = "failures-in-a-row" | "failure-rate";

/** What the recording node has counted: failures in a row, and attempts in the last five minutes. */
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
        readonly secret_headers?: readonly string[];
        readonly at: string;
      };
    }
  /** From this record on only a person changes secret headers, whose values an approval's digest does not cover. */
  | { readonly type: "EndpointPutUnderApproval"; readonly data: { readonly endpoint_id: string; readonly at: string } }
  | {
      readonly type: "EndpointSecretRotated";
      readonly data: {
        readonly endpoint_id: string;
        readonly secret: Sealed;
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
  | {
      readonly type: "EndpointOpened";
      readonly data: Counts & {
        readonly endpoint_id: string;
        readonly reason: OpenReason;
        readonly failing_since: string;
        readonly next_probe_at: string;
        readonly at: string;
      };
    }
  /** This record precedes the probe, so that the next probe is due even if this node crashes. */
  | {
      readonly type: "EndpointProbed";
      readonly data: {
        readonly endpoint_id: string;
        readonly event_id: string;
        readonly probe: number;
        readonly next_probe_at: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "EndpointProbeDeferred";
      readonly data: { readonly endpoint_id: string; readonly next_probe_at: string; readonly at: string };
    }
  | {
      readonly type: "EndpointWarned";
      readonly data: {
        readonly endpoint_id: string;
        readonly failing_since: string;
        /** The endpoint is disabled at this time at the earliest, unless a delivery succeeds before. */
        readonly disables_at: string;
        readonly at: string;
      };
    }
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
