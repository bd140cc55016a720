import type { IncomingHttpHeaders } from "node:http";
import type { Origin } from "../../domain/delivery/events.ts";
import type { PresentSource } from "../../domain/source/decider.ts";
import type { Trace } from "../envelope.ts";

/** One webhook as it arrived. */
export type Webhook = {
  readonly provider: string;
  readonly sourceId: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly ip: string;
  readonly trace: Trace;
  /** ms since 1970. */
  readonly receivedAt: number;
};

/** What is known of a webhook once it is authenticated. */
export type Identified = {
  readonly webhook: Webhook;
  readonly source: PresentSource;
  readonly origin: Origin;
  readonly eventId: string;
  readonly deliveryKey: string;
  readonly eventType: string;
  readonly contentType: string;
  /** Empty for none. */
  readonly contentEncoding: string;
  /** Undefined when the body is no JSON. */
  readonly json: () => unknown;
  readonly authenticatedAt: number;
};
