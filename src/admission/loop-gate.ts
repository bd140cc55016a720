import { allowed, denied, type GateResult } from "../../domain/gate/verdict.ts";
import type { Answer } from "../../domain/ledger/batch.ts";
import type { Limits } from "../../domain/ledger/commands.ts";
import { type LoopRule, runLedger, sameLedger } from "../../domain/ledger/loop.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import type { Ledgers, Reservation } from "../ledgers/ledgers.ts";
import type { Trace } from "../streams/envelope.ts";
import { type Asking, answered, askLedgers, giveBack } from "./ask-ledgers.ts";
import {
  asksFor,
  contested,
  exceeds,
  type LedgerInput,
  type LimitedPolicy,
  type LimitResult,
  NO_LIMITS,
  overLimit,
  RUN_USED_UP,
  type TakenPlace,
  TOO_DEEP,
  TOO_MANY_STEPS,
} from "./limit-results.ts";

type Take = (stream: string, limits: Limits, places: number) => Asking<Answer>;

type LoopInput = Pick<LedgerInput, "run"> &
  Pick<LimitedPolicy, "identical" | "places"> & { readonly policyId: string; readonly loop: LoopRule };

type LoopAnswer =
  | { readonly ok: true; readonly detail: string }
  | { readonly ok: false; readonly counted: LimitResult }
  | null;

const stopped = (code: string, detail: string, retryAfterMs: number | null): LoopAnswer => ({
  ok: false,
  counted: overLimit([denied("loop", code, detail)], retryAfterMs),
});

// biome-ignore lint/correctness/useYield: the three limits are asked alike, and depth needs no ledger.
function* depthLimit({ loop: { max_depth }, run }: LoopInput): Asking<LoopAnswer> {
  if (max_depth === undefined || run === null) return null;
  // The request's target is one call deeper than the agent that makes the request.
  const depth = run.depth + 1;
  const detail = `depth ${depth} of ${max_depth}`;
  return depth > max_depth ? stopped(TOO_DEEP, detail, null) : { ok: true, detail };
}

type IdenticalInput = Pick<LoopInput, "policyId" | "loop" | "identical">;

function* identicalLimit({ policyId, loop, identical }: IdenticalInput, take: Take): Asking<LoopAnswer> {
  const { max_identical, window_s } = loop;
  if (max_identical === undefined || window_s === undefined) return null;
  const about = (used: number): string => `${used} of ${max_identical} identical in ${window_s} s`;
  let most = 0;
  // All requests ask in one order: of two that compete for the last places, one then gets all it needs.
  for (const [digest, places] of [...identical()].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const answer = yield* take(sameLedger(policyId, window_s, digest), { rate: max_identical }, places);
    if (answer.isContested === true) return { ok: false, counted: contested("loop") };
    const used = answer.rate?.used ?? 0;
    most = Math.max(most, used);
    if (answer.granted) continue;
    const detail = about(used) + asksFor(places);
    if (exceeds(places, max_identical)) return stopped(TOO_MANY_STEPS, detail, null);
    return stopped("identical-reached", detail, answer.rate?.retryAfterMs ?? 0);
  }
  return { ok: true, detail: about(most) };
}

function* runLimit({ policyId, loop, run, places = 1 }: LoopInput, take: Take): Asking<LoopAnswer> {
  const { max_per_run } = loop;
  if (max_per_run === undefined || run === null || run.id === null) return null;
  const answer = yield* take(runLedger(policyId, derivedId("", run.id)), { count: max_per_run }, places);
  if (answer.isContested === true) return { ok: false, counted: contested("loop") };
  const detail = `${answer.count?.used ?? 0} of ${max_per_run} in this run${asksFor(places)}`;
  return answer.granted ? { ok: true, detail } : stopped(RUN_USED_UP, detail, null);
}

/** If one of the three limits (depth, repetitions, run) denies, the places of the others are given back. */
export function* loopGate(input: LedgerInput, policy: LimitedPolicy): Asking<LimitResult> {
  const { account, eventId, trace, run } = input;
  const { id: policyId, identical, places: asked = 1 } = policy;
  const { loop } = policy.definition;
  if (loop === undefined) return NO_LIMITS;
  const details: string[] = [];
  const taken: TakenPlace[] = [];
  const take: Take = function* (stream, limits, places) {
    const request = { stream, account, event: eventId, limits, trace, places };
    const reserved = answered(yield { ask: "places", request });
    if (reserved.answer.granted) taken.push({ lasts: false, ...reserved });
    return reserved.answer;
  };
  for (const ask of [depthLimit, identicalLimit, runLimit]) {
    const answer = yield* ask({ run, policyId, identical, places: asked, loop }, take);
    if (answer?.ok === false) {
      yield* giveBack(taken, trace);
      return answer.counted;
    }
    if (answer !== null) details.push(answer.detail);
  }
  const detail = details.length === 0 ? "nothing to count" : details.join(", ");
  return { gates: [allowed("loop", detail)], taken, denied: false, retryAfterS: null };
}

/** A bundle's step whose payload has earlier results: whether it is a repetition is known only after the admission. */
export type Repetition = {
  readonly account: string;
  /** Names the place in the ledger, so that the same holder takes no second place when it asks again. */
  readonly holder: string;
  readonly policyId: string;
  readonly loop: LoopRule;
  readonly digest: string;
  readonly trace: Trace;
};

/** Null if the policy does not limit repetitions. A granted place is spent at once and never given back. */
export const repetitionGate = async (
  ledgers: Pick<Ledgers, "reserve" | "reserveDay" | "release" | "settle">,
  { account, holder, policyId, loop, digest, trace }: Repetition,
): Promise<GateResult | null> => {
  const granted: Reservation[] = [];
  const take: Take = function* (stream, limits, places) {
    const request = { stream, account, event: holder, limits, trace, places };
    const reservation = answered(yield { ask: "places", request });
    if (reservation.answer.granted) granted.push(reservation);
    return reservation.answer;
  };
  const limit = identicalLimit({ policyId, loop, identical: () => new Map([[digest, 1]]) }, take);
  const answer = await askLedgers(limit, ledgers);
  for (const reservation of granted) ledgers.settle(reservation, 0);
  if (answer === null) return null;
  return answer.ok ? allowed("loop", answer.detail) : (answer.counted.gates[0] ?? null);
};
