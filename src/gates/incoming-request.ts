import type { Origin, Replay, RequestedAction, Run } from "../../domain/delivery/events.ts";
import type { Trace } from "../streams/envelope.ts";
import type { KeptPayload } from "../streams/payload-ref.ts";
import type { CompiledAction } from "./compiled-action.ts";

export type AgentRequest = {
  readonly action: RequestedAction;
  readonly run: Run;
  readonly isInScope: boolean;
  readonly compiled: CompiledAction;
  /** Micro-euros that the agent expects, which count if they exceed the cost found by a rule; null if not stated. */
  readonly costMicro: number | null;
};

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
  readonly contentEncoding: string;
  readonly json: () => unknown;
  /** False if the JSON was not searched for duplicate names yet: a policy that reads the payload then does so first. */
  readonly isStrict: boolean;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The headers that are stored with the payload, without secrets and signatures. */
  readonly shownHeaders: () => Readonly<Record<string, string>>;
  readonly trace: Trace;
  /** ms since 1970, like `authenticatedAt` and `askedAt`. */
  readonly receivedAt: number;
  readonly authenticatedAt: number;
  readonly asked: AgentRequest | null;
  /** `replay`, `askedAt` and `kept` (the stored payload) are set only if a blocked event is decided again. */
  readonly replay?: Replay;
  readonly askedAt?: number;
  readonly kept?: KeptPayload;
};

export const jsonOf = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
};
