import type { Commitment } from "../evidence/commitment.ts";
import type { Sealed } from "../sealed.ts";

/** For each type `src/providers/provider-schemes.ts` says how webhooks are verified. */
export const PROVIDER_TYPES = [
  "stripe",
  "github",
  "shopify",
  "gitlab",
  "bitbucket",
  "woocommerce",
  "square",
  "paddle",
  "adyen",
  "slack",
  "standard-webhooks",
  "hmac",
  "bearer",
] as const;
export type ProviderType = (typeof PROVIDER_TYPES)[number];

export type HmacAuth = {
  readonly header: string;
  readonly algorithm: "sha256" | "sha512";
  readonly encoding: "hex" | "base64";
  readonly prefix?: string;
  readonly timestamp_header?: string;
};

/**
 * Where the delivery id is found if the provider's own rule does not fit. `body` counts requests with the same body as
 * one delivery for a while; `none` allows only the provider's rule.
 */
export type DedupeRule = { readonly header: string } | { readonly pointer: string } | "body" | "none";

export type SignatureFailureReason = "missing" | "malformed" | "mismatch" | "stale" | "unknown-secret";

export type SourceSettings = {
  readonly name: string;
  readonly policy_id: string | null;
  readonly endpoint_id: string | null;
  readonly status: "active" | "paused";
};

export type SourceEvent =
  | {
      readonly type: "SourceRegistered";
      readonly data: SourceSettings & {
        readonly source_id: string;
        readonly account: string;
        readonly type: ProviderType;
        readonly auth: HmacAuth | null;
        readonly dedupe: DedupeRule | null;
        readonly secret: Sealed;
        /** The member who set the secret, directly or with an API key. */
        readonly made_by: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "SourceChanged";
      readonly data: { readonly source_id: string; readonly changes: Partial<SourceSettings>; readonly at: string };
    }
  | {
      readonly type: "SourceSecretRotated";
      readonly data: {
        readonly source_id: string;
        readonly secret: Sealed;
        readonly made_by: string;
        readonly previous_until: string;
        readonly at: string;
      };
    }
  | {
      /** Requests without a valid signature are counted by minute, so that they cannot fill the log. */
      readonly type: "SourceRejectsCounted";
      readonly data: {
        readonly source_id: string;
        readonly minute: string;
        readonly counts: Readonly<Partial<Record<SignatureFailureReason, number>>>;
        /** Commitments to the `Client` of the first request for each reason. */
        readonly clients: Readonly<Partial<Record<SignatureFailureReason, Commitment>>>;
        readonly at: string;
      };
    }
  | { readonly type: "SourceDeleted"; readonly data: { readonly source_id: string; readonly at: string } };
