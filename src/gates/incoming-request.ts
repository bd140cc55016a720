import type { Origin, Replay, RequestedAction, Run } from "../../domain/delivery/events.ts";
import type { Trace } from "../streams/envelope.ts";
import type { KeptPayload } from "../streams/payloads.ts";
import type { CompiledAction } from "./compiled-action.ts";

/** What only an agent's request has. */
export type AgentRequest = {
  readonly action: RequestedAction;
  readonly run: Run;
  readonly isInScope: boolean;
  /** What the action's own definition asks of a request. */
  readonly compiled: CompiledAction;
  /** Micro-euros that the agent itself expects: they count where they are more. */
  readonly costMicro: number | null;
};

/** A request of which it is known whose it is: all that the gates and the claim see of it, whoever sent it. */
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
  /** What conditions see. Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What is kept beside the payload: without secrets and signatures. */
  readonly shownHeaders: () => Readonly<Record<string, string>>;
  readonly trace: Trace;
  /** ms since 1970. */
  readonly receivedAt: number;
  readonly authenticatedAt: number;
  /** Null for a source's. */
  readonly asked: AgentRequest | null;
  /** Of a blocked event that nobody has sent again: who has it decided once more, and why. */
  readonly replay?: Replay;
  /** With it: when that was asked for, in ms since 1970. It may have been received days before. */
  readonly askedAt?: number;
  /** With it: what the log has of its payload. */
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
