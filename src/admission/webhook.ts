import type { IncomingHttpHeaders } from "node:http";
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
  readonly onVerified?: () => void;
};
