import { LRUCache } from "lru-cache";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import { statusOf } from "../../domain/delivery/status.ts";
import type { PresentSource } from "../../domain/source/decider.ts";
import { approvalRequests } from "../approvals/approval-requests.ts";
import type { IncomingRequest } from "../gates/incoming-request.ts";
import { type Answer, positionOf } from "../http/route.ts";
import type { Trace } from "../streams/envelope.ts";
import { type Problem, problem } from "../streams/problems.ts";
import { foldStream, type StreamState } from "../streams/run-command.ts";
import { type Claim, claiming } from "./claim-event.ts";
import { claimingNew, type NewClaimDeps } from "./claim-new-event.ts";
import { denialProblem } from "./denial-problem.ts";
import { singleFlight } from "./single-flight.ts";
import type { WebhookCounts } from "./webhook-counts.ts";

/** So many event ids are remembered. The repeat of an event that is forgotten is found when its claim conflicts. */
const RECENT_MAX = 16_384;

export type WebhookDecisionsDeps = NewClaimDeps & { readonly counts: WebhookCounts };

export type VerifiedWebhook = IncomingRequest & { readonly source: PresentSource };

export class WebhookDecisions {
  readonly #deps: WebhookDecisionsDeps;
  readonly #claim: Claim;
  readonly #claimNew: ReturnType<typeof claimingNew>;
  readonly #approvals: ReturnType<typeof approvalRequests>;
  readonly #decideOnce = singleFlight<Buffer, Answer | Problem>((a, b) => a.equals(b));
  readonly #recent = new LRUCache<string, true>({ max: RECENT_MAX });

  constructor(deps: WebhookDecisionsDeps) {
    this.#deps = deps;
    this.#claim = claiming(deps);
    this.#claimNew = claimingNew(deps);
    this.#approvals = approvalRequests(deps);
  }

  async decide(it: VerifiedWebhook): Promise<Answer | Problem> {
    const { landed, isFirst } = await this.#decideOnce(it.eventId, it.body, () => this.#decideFirst(it));
    return isFirst ? landed : this.#repeatOf(it, landed);
  }

  /** Most webhooks are new, so a stream is read first only for a recent id. The claim of any other repeat conflicts. */
  async #decideFirst(it: VerifiedWebhook): Promise<Answer | Problem> {
    const { eventId } = it;
    const isRepeat = this.#recent.has(eventId);
    this.#recent.set(eventId, true);
    const claimed = isRepeat
      ? await this.#claim(it, await foldStream(this.#deps.log, delivery, `delivery-${eventId}`))
      : await this.#claimNew(it);
    if (claimed.outcome === "taken") return this.#duplicate(it, claimed.known);
    if (claimed.outcome === "denied") return denialProblem({ event_id: eventId }, claimed.judged);
    const { known, position } = claimed;
    const { state } = known;
    const approval = state.phase === "held" ? { approval_id: state.approval.approval_id } : {};
    return { status: 202, body: { event_id: eventId, status: statusOf(state), ...approval }, position };
  }

  async #duplicate(it: VerifiedWebhook, known: StreamState<Delivery>): Promise<Answer | Problem> {
    const { state } = known;
    const { eventId, account, body, trace } = it;
    const event = { account, id: eventId };
    const first = "request" in state ? state.request.payload : null;
    const kept = first === null ? null : await this.#deps.payloads.read(eventId, first);
    if (kept !== null && kept !== "damaged" && !kept.body.equals(body)) return this.#reused(event, trace);
    const position = await this.#approvals.recorded(`delivery-${eventId}`, known);
    this.#deps.counts.duplicate(event, trace);
    const answer = { event_id: eventId, status: statusOf(state), duplicate: true };
    return { status: 200, body: answer, ...positionOf({ position }) };
  }

  #reused(event: { account: string; id: string }, trace: Trace): Problem {
    this.#deps.counts.reused(event, trace);
    const detail =
      "The body differs from the one that came first with this delivery id: send a new event under a new id.";
    return problem("delivery-id-reused", detail, { extra: { event_id: event.id } });
  }

  #repeatOf(it: VerifiedWebhook, outcome: Answer | Problem): Answer | Problem {
    const { account, eventId: id, trace, receivedAt } = it;
    const { counts, clock, onDecided } = this.#deps;
    const event = { account, id };
    if ("problem" in outcome) {
      if (outcome.problem === "delivery-id-reused") counts.reused(event, trace);
      return outcome;
    }
    const { trace_id } = trace;
    const ms = Math.max(0, clock.now() - receivedAt);
    onDecided?.({ trace_id, id, origin: "source", outcome: "duplicate", gate: null, code: null, ms });
    counts.duplicate(event, trace);
    // An answer that is no problem always has an object as its body here.
    return { ...outcome, status: 200, body: { ...(outcome.body as object), duplicate: true } };
  }
}
