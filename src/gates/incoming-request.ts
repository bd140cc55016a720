import type { Origin, Replay, RequestedAction, Run, Sample } from "../../domain/delivery/events.ts";
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
  /** The body as UTF-8, if it was decoded already. */
  readonly text?: () => string;
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
  /** Absent if a sender sent it. */
  readonly sample?: Sample | undefined;
  /** `replay`, `askedAt` and `kept` (the stored payload) are set only if a blocked event is decided again. */
  readonly replay?: Replay;
  readonly askedAt?: number;
  readonly kept?: KeptPayload;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const jsonOf = (body: Buffer): unknown => parsed(body.toString("utf8"));

/** A body's text and JSON, each of which is made once, when it is first asked for. */
export class BodyContent {
  readonly #body: Buffer;
  #text: string | null = null;
  #json: { readonly value: unknown } | null = null;

  constructor(body: Buffer) {
    this.#body = body;
  }

  readonly text = (): string => {
    this.#text ??= this.#body.toString("utf8");
    return this.#text;
  };

  /** Undefined if the body is not JSON. */
  readonly json = (): unknown => {
    this.#json ??= { value: parsed(this.text()) };
    return this.#json.value;
  };
}
