import { untilMidnight } from "../../domain/calendar.ts";
import { denied, type GateResult } from "../../domain/gate/verdict.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { ByteAllowances, TakenBytes } from "../ledgers/byte-allowances.ts";
import { type HeldPlaces, type HeldPlacesDeps, heldPlaces } from "../ledgers/held-places.ts";
import type { Ledgers } from "../ledgers/ledgers.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { KeptPayload } from "../streams/payload-ref.ts";
import { bytesOf, headOf, type Incoming, type Payloads } from "../streams/payloads.ts";
import { limitReached } from "../streams/problems.ts";
import type { ClaimSubject, Judgeable } from "./claim-subject.ts";
import type { Judgement } from "./judge.ts";

export type IntakeDeps = {
  readonly clock: Clock;
  readonly ledgers: Ledgers;
  readonly payloads: Payloads;
  readonly allowances: ByteAllowances;
  readonly accountOf: HeldPlacesDeps["accountOf"];
};

/** The account is charged these bytes for each request's decision, attempts and places, in addition to its payload. */
export const RECORDS_BYTES = 2_048;

type JudgedBytes<J> = { readonly judged: J; readonly taken: TakenBytes | null };

/**
 * `taken` are the account's bytes that were counted for storing `form`. `first` is null if an earlier request has
 * already stored a payload for the event; if the two are equal, `reusable` bytes are given back.
 */
export type StoredIntake<J> = JudgedBytes<J> & {
  readonly form: Incoming;
  readonly first: KeptPayload | null;
  readonly reusable: number;
};

type CountedIntake<J> = { readonly judged: J; readonly form: null };

const OVER_BYTES = denied(
  "bytes",
  "bytes-reached",
  "The account has stored as many bytes today (UTC) as its plan includes (stored_bytes_day).",
);

/** Denies a request that passed all policies, because the account has reached a limit of its plan. */
const lateDenial = <J extends Judgement>(judged: J, gate: GateResult, retryAfterS: number | null): J => {
  const { observed: _, ...verdict } = judged.verdict;
  const gates = [...verdict.gates.filter((it) => it.gate !== gate.gate), gate];
  return {
    ...judged,
    verdict: { ...verdict, decision: "deny", gates },
    deniedBy: gate,
    reservations: [],
    retryAfterS,
  };
};

const overHeld = <J extends Judgement>(judged: J, max: number): J =>
  lateDenial(judged, denied("approval", "limit-reached", limitReached("held_approvals", max).detail), null);

/** Both promises are awaited even if one rejects, so that an error leaves nothing running. */
const both = async <A, B>(first: Promise<A>, second: Promise<B>): Promise<readonly [A, B]> => {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
};

export class Intake {
  readonly #deps: IntakeDeps;
  readonly #held: HeldPlaces;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
    this.#held = heldPlaces(deps);
  }

  /**
   * Judges before it stores, because the verdict decides how much of the payload is stored. If the process has leased
   * enough bytes to store even a denied payload whole, it does both at once.
   */
  async judgeAndStore<J extends Judgement>(
    it: Judgeable<J>,
    incoming: Incoming,
    envelope: Envelope,
  ): Promise<StoredIntake<J> | CountedIntake<J>> {
    if (it.kept !== undefined) {
      return { form: incoming, first: it.kept, judged: await this.#judgeHeld(it), taken: null, reusable: 0 };
    }
    const { allowances, payloads } = this.#deps;
    const body = bytesOf(incoming);
    const atHand = allowances.takeAtHand(it.account, "refused", body + RECORDS_BYTES);
    if (atHand === null) return this.#judgeThenStore(it, incoming, envelope);
    const [first, { judged, taken }] = await both(
      payloads.keepFirst(it.id, incoming, envelope),
      this.#judgeBytes(it, body),
    );
    if (judged.verdict.decision === "deny") return { form: incoming, first, judged, taken: atHand, reusable: body };
    atHand.giveBack();
    return { form: incoming, first, judged, taken, reusable: body };
  }

  /** Releases only this verdict's reservations, so that other requests for the same event keep theirs. */
  async giveBack({ trace }: ClaimSubject, { reservations, heldPlace }: Judgement): Promise<void> {
    for (const reservation of reservations) await this.#deps.ledgers.release(reservation, trace);
    if (heldPlace !== undefined) await this.#deps.ledgers.release(heldPlace, trace);
  }

  async #judgeThenStore<J extends Judgement>(
    it: Judgeable<J>,
    incoming: Incoming,
    envelope: Envelope,
  ): Promise<StoredIntake<J> | CountedIntake<J>> {
    const { account, id } = it;
    const { allowances, payloads } = this.#deps;
    const body = bytesOf(incoming);
    const { judged, taken } = await this.#judgeBytes(it, body);
    if (judged.verdict.decision !== "deny") {
      const first = await payloads.keepFirst(id, incoming, envelope);
      return { form: incoming, first, judged, taken, reusable: body };
    }
    const whole = await allowances.take(account, "refused", body + RECORDS_BYTES);
    if (whole !== null) {
      const first = await payloads.keepFirst(id, incoming, envelope);
      return { form: incoming, first, judged, taken: whole, reusable: body };
    }
    const record = await allowances.take(account, "refused_records", 1);
    if (record === null) return { judged, form: null };
    const form = headOf(incoming);
    return { form, first: await payloads.keepFirst(id, form, envelope), judged, taken: record, reusable: 0 };
  }

  async #judgeBytes<J extends Judgement>(it: Judgeable<J>, body: number): Promise<JudgedBytes<J>> {
    const { account, copies = 1, records = 1 } = it;
    const { allowances } = this.#deps;
    const bytes = body * copies + records * RECORDS_BYTES;
    if (!(await allowances.hasRoom(account, "stored", bytes))) {
      const asked = await it.judge("ask");
      return asked.verdict.decision === "deny" ? { judged: asked, taken: null } : this.#overBytes(asked);
    }
    const judged = (await this.#recordsDenials(account, body))
      ? await this.#judgeHeld(it)
      : await this.#judgeSparingly(it);
    if (judged.verdict.decision === "deny") return { judged, taken: null };
    const taken = await allowances.take(account, "stored", bytes);
    if (taken !== null) return { judged, taken };
    await this.giveBack(it, judged);
    return this.#overBytes(judged);
  }

  #overBytes<J extends Judgement>(judged: J): JudgedBytes<J> {
    const retryAfterS = Math.ceil(untilMidnight("UTC", this.#deps.clock.now()) / 1_000);
    return { judged: lateDenial(judged, OVER_BYTES, retryAfterS), taken: null };
  }

  async #judgeHeld<J extends Judgement>(it: Judgeable<J>): Promise<J> {
    const judged = await it.judge();
    if (judged.verdict.decision !== "hold") return judged;
    const place = await this.#held.take(it.account, it.id, it.trace);
    if (!("max" in place)) return { ...judged, heldPlace: place };
    await this.giveBack(it, judged);
    return overHeld(judged, place.max);
  }

  /** While denials are only counted, a denied request must not reserve: reserving and releasing write records. */
  async #judgeSparingly<J extends Judgement>(it: Judgeable<J>): Promise<J> {
    const asked = await it.judge("ask");
    if (asked.verdict.decision === "deny") return asked;
    if (asked.verdict.decision === "allow") return this.#judgeHeld(it);
    const place = await this.#held.take(it.account, it.id, it.trace);
    if ("max" in place) return overHeld(asked, place.max);
    const judged = await it.judge();
    if (judged.verdict.decision === "hold") return { ...judged, heldPlace: place };
    await this.#deps.ledgers.release(place, it.trace);
    return judged;
  }

  async #recordsDenials(account: string, body: number): Promise<boolean> {
    const { allowances } = this.#deps;
    return (
      (await allowances.hasRoom(account, "refused", body + RECORDS_BYTES)) ||
      (await allowances.hasRoom(account, "refused_records", 1))
    );
  }
}
