import type { Sealed } from "../source/events.ts";

export type EndpointSettings = {
  readonly name: string;
  readonly url: string;
  readonly timeout_ms: number;
  /** Seconds between one attempt and the next; its length is the number of retries. */
  readonly retry_schedule_s: readonly number[];
  readonly concurrency: number;
  readonly rate_per_second: number | null;
  /** Sent with every delivery. The values are sealed: they often carry a credential. */
  readonly headers: Readonly<Record<string, Sealed>>;
  readonly notifications: readonly string[];
};

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
      readonly data: { readonly endpoint_id: string; readonly changes: Partial<EndpointSettings>; readonly at: string };
    }
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
  | { readonly type: "EndpointEnabled"; readonly data: { readonly endpoint_id: string; readonly at: string } }
  | { readonly type: "EndpointDeleted"; readonly data: { readonly endpoint_id: string; readonly at: string } };
