import type { Decider } from "../../domain/decider.ts";
import type { ErasedUpTo, HeldFor, Origin, PayloadRef, Replay, Sample } from "../../domain/delivery/events.ts";
import type { BoundRequest } from "../approvals/approval-binding.ts";
import type { Fact, Trace } from "../streams/envelope.ts";
import type { KeptPayload } from "../streams/payload-ref.ts";
import type { Incoming } from "../streams/payloads.ts";
import type { Judgement, Places } from "./judge.ts";

export type ClaimCommand<Q> =
  | { readonly type: "Admit" | "Block"; readonly request: Q }
  | { readonly type: "Hold"; readonly request: Q; readonly approval: HeldFor };

export type RecordedVerdict = {
  readonly payload: PayloadRef;
  readonly verdict: Judgement["verdict"];
  readonly cost: number | null;
  readonly ledgers: readonly string[] | undefined;
  readonly received_at: string;
  readonly at: string;
};

export type ClaimSubject = {
  readonly id: string;
  readonly account: string;
  readonly origin: Origin;
  readonly trace: Trace;
  /** ms since 1970, like `askedAt`. */
  readonly receivedAt: number;
  /** `askedAt`, `replay` and `kept` (the stored payload) are set only if a blocked event is decided again. */
  readonly askedAt?: number | undefined;
  /** True for an agent's request, which keeps its places in ledgers until its end determines the cost. */
  readonly endsLater: boolean;
  readonly replay?: Replay | undefined;
  readonly sample?: Sample | undefined;
  readonly kept?: KeptPayload | undefined;
};

export type Claimable<S, E extends Fact, Q, J extends Judgement> = ClaimSubject & {
  readonly stream: string;
  readonly decider: Decider<S, ClaimCommand<Q>, E, unknown>;
  readonly isClaimed: (state: S) => boolean;
  /** No verdict may refer to a payload up to this revision, because it is erased or about to be. */
  readonly erasedUpTo: (state: S) => ErasedUpTo;
  readonly incoming: () => Incoming;
  /** How many copies of the body an admission stores, all of which count as the account's bytes; 1 by default. */
  readonly copies?: number;
  /** How many requests are charged `RECORDS_BYTES`: the bundle and each of its steps; 1 by default. */
  readonly records?: number;
  readonly judge: (places?: Places) => Promise<J>;
  readonly requestOf: (decided: RecordedVerdict, judged: J) => Q;
  readonly bind: (request: Q) => Promise<BoundRequest<Q>>;
};

export type Judgeable<J> = ClaimSubject &
  Pick<Claimable<never, never, never, J & Judgement>, "judge" | "copies" | "records">;
