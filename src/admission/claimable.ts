import type { Decider } from "../../domain/decider.ts";
import type { Erased } from "../../domain/delivery/erased.ts";
import type { HeldFor, Origin, PayloadRef, Replay } from "../../domain/delivery/events.ts";
import type { BoundRequest } from "../approvals/approval-binding.ts";
import type { Fact, Trace } from "../streams/envelope.ts";
import type { Incoming, KeptPayload } from "../streams/payloads.ts";
import type { Judged, Places } from "./judge.ts";

export type ClaimCommand<Q> =
  | { readonly type: "Admit" | "Block"; readonly request: Q }
  | { readonly type: "Hold"; readonly request: Q; readonly approval: HeldFor };

/** The recorded form of a verdict. */
export type Decided = {
  readonly payload: PayloadRef;
  readonly verdict: Judged["verdict"];
  readonly cost: number | null;
  /** Ledgers in which the request holds places until it has ended; missing for none. */
  readonly ledgers?: readonly string[];
  readonly received_at: string;
  readonly at: string;
};

export type ClaimSubject = {
  /** Names its payload and its places in ledgers. */
  readonly id: string;
  readonly account: string;
  readonly origin: Origin;
  readonly trace: Trace;
  /** ms since 1970. */
  readonly receivedAt: number;
  /** ms since 1970; only for a blocked event that is decided again. */
  readonly askedAt?: number;
  /** Once admitted it keeps its places until its end determines the cost; otherwise the admission spends them. */
  readonly endsLater: boolean;
  /** Only for a blocked event that is decided again: who asked for that. */
  readonly replay?: Replay;
  /** Only with `replay`: the stored payload, which is not stored again. */
  readonly kept?: KeptPayload;
};

/** An event or a bundle, which is decided once under its id. `Q` is the recorded request. */
export type Claimable<S, E extends Fact, Q, J extends Judged> = ClaimSubject & {
  readonly stream: string;
  readonly decider: Decider<S, ClaimCommand<Q>, E, unknown>;
  /** Decided for good, so a repeat does not decide again. */
  readonly isClaimed: (state: S) => boolean;
  /** The payloads that are erased or about to be, to which no verdict may refer. */
  readonly erasedUpTo: (state: S) => Erased;
  readonly incoming: () => Incoming;
  /** How often its bytes are stored once it is admitted; left out: once. */
  readonly copies?: number;
  /** How many requests' records it leaves; left out: one. */
  readonly records?: number;
  readonly judge: (places?: Places) => Promise<J>;
  readonly requestOf: (decided: Decided, judged: J) => Q;
  /** Binds a request that people have to approve to what they approve. */
  readonly bind: (request: Q) => Promise<BoundRequest<Q>>;
};

export type Judgeable<J> = ClaimSubject &
  Pick<Claimable<never, never, never, J & Judged>, "judge" | "copies" | "records">;
