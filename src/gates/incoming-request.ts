import type { Origin, Replay, RequestedAction, Run } from "../../domain/delivery/events.ts";
import type { Trace } from "../streams/envelope.ts";
import type { KeptPayload } from "../streams/payloads.ts";
import type { CompiledAction } from "./compiled-action.ts";

export type AgentRequest = {
  readonly action: RequestedAction;
  readonly run: Run;
  readonly isInScope: boolean;
  readonly compiled: CompiledAction;
  /** Micro-euros that the agent expects, which count if they exceed the computed cost. */
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
  /** False if the JSON may have duplicate names: a policy that reads it then searches for them first. */
  readonly isStrict: boolean;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** These headers are stored with the payload, without secrets and signatures. */
  readonly shownHeaders: () => Readonly<Record<string, string>>;
  readonly trace: Trace;
  /** All times here are ms since 1970. */
  readonly receivedAt: number;
  readonly authenticatedAt: number;
  readonly asked: AgentRequest | null;
  /** `replay`, `askedAt` and `kept` (the stored payload) are there only for a blocked event that is decided again. */
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
