import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Plan } from "../../../domain/account/plans.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import { type FairSemaphore, fairSemaphore } from "../../../infra/fair-semaphore.ts";
import { networkOf } from "../../../infra/http/network.ts";
import type { ActiveSource } from "../../admission/active-source.ts";
import type { Admission } from "../../admission/admission.ts";
import type { Webhook } from "../../admission/webhook.ts";
import { BodyBudget, type BudgetedBody } from "../../http/body-budget.ts";
import { ByteRate, SMALL_BYTES } from "../../http/byte-rate.ts";
import type { BodyLimits } from "../../http/counted-body.ts";
import { BODY_SILENCE_MS } from "../../http/limits.ts";
import { loopLag } from "../../http/loop-lag.ts";
import type { Answer } from "../../http/route.ts";
import { TimeLimits } from "../../http/time-limits.ts";
import { PAYLOAD_BYTES_MAX } from "../../streams/payloads.ts";
import { type Problem, problem } from "../../streams/problems.ts";

/**
 * `requests` and `bytes` limit the webhooks whose bodies have arrived, in shares (`BodyBudget`); others are told to
 * come again. A body exists several times at once, as bytes, text and record, so it takes a multiple of `bytes` in
 * memory. `decisions` are made at once, while the rest wait and accounts take turns: decided all at once, a burst could
 * be too late as a whole. `lagMs`: an event loop as late as this keeps requests unread, while senders wait only 3 s
 * (Slack) or more. `lookMs` and `decideMs` limit how long a hanging log delays an answer, as most senders give up after
 * 10 s. A decision made after that is final, and answers the sender's repeat.
 */
export type IngestLimits = {
  readonly requests: number;
  readonly bytes: number;
  readonly decisions: number;
  readonly lagMs: number;
  readonly lookMs: number;
  readonly decideMs: number;
};
export const INGEST_LIMITS: IngestLimits = {
  requests: 4_000,
  bytes: 32 * 1_048_576,
  decisions: 256,
  lagMs: 2_000,
  lookMs: 3_000,
  decideMs: 6_000,
};
const RETRY_AFTER_S = 1;
const LATE_RETRY_AFTER_S = 5;

export type IntakeDeps = {
  readonly activeSource: ActiveSource;
  readonly admit: Admission;
  readonly clock: Clock;
  readonly planOf: (account: string) => Promise<Plan>;
  readonly limits?: IngestLimits;
  readonly silenceMs?: number;
};

/** The rate of untrusted bodies whatever the account's plan is, because such a body is only hashed at first. */
const UNVERIFIED_BYTES_PER_S = 8 * 1_048_576;
/** Beyond so many delayed refusals, large bodies are refused at once: each wait occupies a connection and buffers. */
const REFUSED_LATER_MAX = 256;
/** The networks of so many addresses are remembered, because parsing an address takes 4 µs. */
const ADDRESSES_MAX = 10_000;

export type WebhookAddress = { readonly provider: string; readonly source_id: string };

export type Arrived = Omit<Webhook, "receivedAt" | "onVerified">;

/** What one webhook takes of the limits. */
export type Share = {
  readonly body: BudgetedBody;
  readonly account: string;
  /** Drops the bytes read so far. */
  forget: () => void;
  /** How long the body has waited for its turn, in ms; null until its turn was asked for. */
  waitedMs: number | null;
};

export const overloaded = problem(
  "overloaded",
  "This node has too many requests in flight. Repeat the request in a second.",
  { retryAfterS: RETRY_AFTER_S },
);

const late = problem("unavailable", "The log does not answer at the moment. Repeat the request.", {
  retryAfterS: LATE_RETRY_AFTER_S,
});

/** The limits, shares and turns of webhooks, however their requests are read and answered. */
export class WebhookIntake {
  readonly #deps: IntakeDeps;
  readonly #limits: IngestLimits;
  readonly #lag = loopLag();
  readonly #budget: BodyBudget;
  readonly #deciding: FairSemaphore;
  readonly #rate: ByteRate;
  readonly #timeLimits = new TimeLimits();
  readonly #networks = new LRUCache<string, string>({ max: ADDRESSES_MAX });
  #refusedLater = 0;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? INGEST_LIMITS;
    this.#budget = new BodyBudget(this.#limits, deps.clock);
    this.#deciding = fairSemaphore(this.#limits.decisions);
    this.#rate = new ByteRate(deps.clock);
  }

  /** False if the webhook is to be told to come again, because the node has enough to do. */
  hasRoom(): boolean {
    return this.#budget.requests < this.#limits.requests && this.#lag() <= this.#limits.lagMs;
  }

  /** The source of a webhook, or why it takes none. No promise if the source is at hand. */
  sourceOf({ provider, source_id: id }: WebhookAddress): ReturnType<ActiveSource> {
    return this.#timeLimits.within(this.#limits.lookMs, this.#deps.activeSource(provider, id), late);
  }

  begin(source: string, account: string, ip: string): Share {
    const body = this.#budget.begin({ account, source, network: this.#networkOf(ip) }, () => share.forget());
    const share: Share = { body, account, forget: () => undefined, waitedMs: null };
    return share;
  }

  /** Null if the body may be read. A large body that announces its length costs nothing before its turn. */
  async announce(share: Share, bytes: number): Promise<Problem | null> {
    if (bytes <= SMALL_BYTES || bytes > PAYLOAD_BYTES_MAX || !share.body.isTrusted()) return null;
    const tooLate = await this.#awaitTurn(share, bytes);
    // The body is unread, so a late answer costs little and slows the sender down.
    if (tooLate === overloaded) await this.#waitBeforeRefusal();
    return tooLate;
  }

  bodyLimits(share: Share | undefined): BodyLimits {
    const silenceMs = this.#deps.silenceMs ?? BODY_SILENCE_MS;
    return { bytesMax: PAYLOAD_BYTES_MAX, silenceMs, take: (bytes) => share?.body.take(bytes) ?? false };
  }

  /** `isGone` tells whether the client has disconnected. */
  decide(share: Share, arrived: Arrived, isGone: () => boolean): ReturnType<Admission> {
    const { body } = share;
    body.complete();
    if (!body.enter()) return overloaded;
    const { provider, sourceId, source, headers, rawHeaders, body: bytes, ip, trace } = arrived;
    const receivedAt = this.#deps.clock.now();
    const onVerified = body.verified;
    const webhook = { provider, sourceId, source, headers, rawHeaders, body: bytes, ip, trace, receivedAt, onVerified };
    const { decideMs } = this.#limits;
    const party = body.party();
    if (bytes.length <= SMALL_BYTES && this.#deciding.tryEnter(party)) return this.#admit(webhook, party, decideMs);
    return this.#decideInTurn(share, webhook, isGone);
  }

  async #decideInTurn(share: Share, webhook: Webhook, isGone: () => boolean): Promise<Answer | Problem> {
    const party = share.body.party();
    const tooLate = share.waitedMs === null ? await this.#awaitTurn(share, webhook.body.length) : null;
    if (tooLate !== null) return tooLate;
    const leftMs = this.#limits.decideMs - (share.waitedMs ?? 0);
    const from = performance.now();
    if (!(await this.#deciding.enter(party, leftMs))) return late;
    // A client that disconnected while it waited gets no decision, as it will repeat the webhook.
    if (isGone()) {
      this.#deciding.leave(party);
      return overloaded;
    }
    return this.#admit(webhook, party, leftMs - (performance.now() - from));
  }

  #admit(webhook: Webhook, party: string, leftMs: number): ReturnType<Admission> {
    const done = (): void => this.#deciding.leave(party);
    try {
      // The decision may end later than the answer, and keeps its turn until then.
      return this.#timeLimits.within(leftMs, this.#deps.admit(webhook), late, done);
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Waits for the turn of a large body. Answers `overloaded` at once if the turn would come too late. */
  async #awaitTurn(share: Share, bytes: number): Promise<Problem | null> {
    if (bytes <= SMALL_BYTES) return null;
    const { body, account } = share;
    const { lookMs, decideMs } = this.#limits;
    const from = performance.now();
    const plan = body.isTrusted() ? await this.#timeLimits.within(lookMs, this.#deps.planOf(account), late) : null;
    if (plan !== null && "problem" in plan) return plan;
    const bytesPerS = plan?.largeBodyBytesPerS ?? UNVERIFIED_BYTES_PER_S;
    const lookedMs = performance.now() - from;
    const waitMs = this.#rate.turn({ party: body.party(), bytes, bytesPerS, limitMs: decideMs - lookedMs });
    if (waitMs === null) return overloaded;
    share.waitedMs = lookedMs + waitMs;
    if (waitMs > 0) await sleep(waitMs);
    return null;
  }

  async #waitBeforeRefusal(): Promise<void> {
    if (this.#refusedLater >= REFUSED_LATER_MAX) return;
    this.#refusedLater += 1;
    await sleep(this.#limits.decideMs);
    this.#refusedLater -= 1;
  }

  #networkOf(ip: string): string {
    let network = this.#networks.get(ip);
    if (network === undefined) {
      network = networkOf(ip);
      this.#networks.set(ip, network);
    }
    return network;
  }
}
