import type { Origin, Replay, RequestedAction, Run } from "../../domain/delivery/events.ts";
import type { Trace } from "../streams/envelope.ts";
import type { KeptPayload } from "../streams/payloads.ts";
import type { CompiledAction } from "./compiled-action.ts";

export type AgentRequest = {
  readonly action: RequestedAction;
  readonly run: Run;
  readonly isInScope: boolean;
  readonly compiled: CompiledAction;
  /** Micro-euros that the agent expects, which count if they are more. */
  readonly costMicro: number | null;
};

/** A request of a known sender, as the gates and the claim see it. */
export type IncomingRequest = {
  readonly eventId: string;
  readonly account: string;
  readonly origin: Origin;
  readonly policyId: string | null;
  readonly endpointId: string | null;
  readonly deliveryKey: string;
  readonly eventType: string;
  readonly body: Buffer;
  readonly contentType: string;
  /** Empty for none. */
  readonly contentEncoding: string;
  /** Undefined when the body is no JSON. */
  readonly json: () => unknown;
  /** False: the JSON may be read in two ways, so a policy that reads it looks for that first. */
  readonly isStrict: boolean;
  /** For conditions; names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Stored with the payload, without secrets and signatures. */
  readonly shownHeaders: () => Readonly<Record<string, string>>;
  readonly trace: Trace;
  /** ms since 1970. */
  readonly receivedAt: number;
  readonly authenticatedAt: number;
  /** Null for a webhook. */
  readonly asked: AgentRequest | null;
  /** Only for a blocked event that is decided again: who asked for that, and why. */
  readonly replay?: Replay;
  /** Only with `replay`: when that was asked for, in ms since 1970. */
  readonly askedAt?: number;
  /** Only with `replay`: the stored payload. */
  readonly kept?: KeptPayload;
};

/** A body as its sender means it; undefined when it is no JSON. */
export const jsonOf = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
};
