import type { IncomingHttpHeaders } from "node:http";
import type { Sample } from "../../domain/delivery/events.ts";
import type { PresentSource } from "../../domain/source/decider.ts";
import type { Trace } from "../streams/envelope.ts";

export type Webhook = {
  readonly provider: string;
  readonly sourceId: string;
  /** The source, if nothing was waited for since it was looked up. */
  readonly source?: PresentSource | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly ip: string;
  readonly trace: Trace;
  /** ms since 1970. */
  readonly receivedAt: number;
  /** Set only by the service for a sample that it makes; no request can claim to be one. */
  readonly sample?: Sample;
  readonly onVerified?: () => void;
};
