import * as assert from "uvu/assert";
import { bundle } from "../../../domain/bundle/decider.ts";
import type { BundleEvent, BundleRequest, Step } from "../../../domain/bundle/events.ts";
import { nextOf } from "../../../domain/bundle/next.ts";
import type { Bundle } from "../../../domain/bundle/state.ts";
import type { Decider } from "../../../domain/decider.ts";
import type { AttemptEnd, Failure } from "../../../domain/delivery/attempt-end.ts";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { DeliveryEvent, Request } from "../../../domain/delivery/events.ts";
import { isActive, stepEndOf } from "../../../domain/delivery/state.ts";
import { at, bundleRequest, bundleStep, heldFor, request } from "../../support/history.ts";

/**
 * A bundle from its decision to its end, by two nodes that each have a reactor and a deliverer, over one log.
 * Everybody stops before each append and behind each request; a schedule says who goes on, and who is gone for good there
 * and begins anew with nothing but the log. Time passes with every turn.
 */

/** What becomes of one attempt at a target. `unseen`: it timed out; `gateway`: a 504 of somebody before the target. */
export type Attempt = "done" | "refused" | "gone" | "unreached" | "unseen" | "unseen-done" | "gateway" | "gateway-done";

export type Target = {
  /** One after the other; the last of them again from there on. */
  readonly attempts: readonly Attempt[];
  /** Micro-euros that its answers say; null when they say nothing. */
  readonly reported: number | null;
  /** The second in which its endpoint is deleted, also while a request is under way; null when it is not deleted. */
  readonly deletedAtS: number | null;
};

export type Scene = {
  readonly steps: readonly {
    readonly reversibility: Step["reversibility"];
    /** Whether a reversible one has a compensation all the same. */
    readonly isReversibleByAction: boolean;
    readonly cost: number | null;
    /** Its payload cannot be made. */
    readonly isRefused: boolean;
    readonly forward: Target;
    readonly undo: Target;
  }[];
  readonly decision: "admit" | "release" | "reject";
  /** How many turns its caller lets pass before cancelling it; null when it is not cancelled. */
  readonly cancelAfter: number | null;
  /** Who has the next turn, and whether it is gone then. */
  readonly schedule: readonly { readonly turn: number; readonly crash: boolean }[];
};

/** One request that had an effect at its target, which tells a repeat by its webhook-id. */
type Effect = { readonly webhookId: string; readonly nth: number };

export type Played = {
  readonly request: BundleRequest;
  readonly state: Bundle;
  readonly events: readonly BundleEvent[];
  readonly effects: readonly Effect[];
  deliveryOf(eventId: string): readonly DeliveryEvent[];
};

const BUNDLE = "bun_1";
const DIGEST = "d1";
/** Two rounds of turns and a little: so that it runs out now and then. */
const LEASE_S = 20;
const RETRY_S = 3;
const ATTEMPTS_MAX = 3;
/** Of a scene that does not end. */
const TURNS_MAX = 20_000;
const PAYLOAD = { revision: 0, content_type: "application/json", size: 2, commitment: "00" } as const;

const FAILURES = {
  refused: { failure: { kind: "http-4xx", detail: "" }, status: 422 },
  gone: { failure: { kind: "http-4xx", detail: "" }, status: 410 },
  unreached: { failure: { kind: "connect", detail: "" }, status: null },
  unseen: { failure: { kind: "timeout", detail: "" }, status: null },
  "unseen-done": { failure: { kind: "reset", detail: "" }, status: null },
  gateway: { failure: { kind: "http-5xx", detail: "" }, status: 504 },
  "gateway-done": { failure: { kind: "http-5xx", detail: "" }, status: 502 },
} as const satisfies Record<Exclude<Attempt, "done">, { failure: Failure; status: number | null }>;

const HAS_EFFECT: ReadonlySet<Attempt> = new Set(["done", "unseen-done", "gateway-done"]);
const ANSWERS: ReadonlySet<Attempt> = new Set(["done", "refused", "gone"]);

const requestOf = ({ steps }: Scene): BundleRequest =>
  bundleRequest({
    bundle_id: BUNDLE,
    cost: steps.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    steps: steps.map(({ reversibility, isReversibleByAction, cost, isRefused }, index) => {
      const own = { reversibility, cost, uses_results: isRefused };
      const isCalled = reversibility === "compensable" || (reversibility === "reversible" && isReversibleByAction);
      return bundleStep(index, isCalled ? own : { ...own, compensation: null }, BUNDLE);
    }),
  });

type Stream<S, C, E, R> = {
  readonly decider: Decider<S, C, E, R>;
  readonly events: readonly E[];
  /** All that is known of it to whoever begins anew. */
  readonly state: S;
  append(events: readonly E[]): void;
};

const streamOf = <S, C, E, R>(decider: Decider<S, C, E, R>): Stream<S, C, E, R> => {
  const events: E[] = [];
  let state = decider.initial;
  return {
    decider,
    events,
    get state() {
      return state;
    },
    append(more) {
      events.push(...more);
      state = more.reduce(decider.evolve, state);
    },
  };
};

/** Runs a scene to its end, and fails when it has none. */
export const play = (scene: Scene): Played => {
  const asked = requestOf(scene);
  const effects: Effect[] = [];
  let nowS = 1;
  const now = (): string => at(nowS);

  const life = streamOf(bundle);
  const deliveries = new Map(
    asked.steps.flatMap(({ event_id, undo_event_id }) =>
      [event_id, undo_event_id].map((id) => [id, streamOf(delivery)] as const),
    ),
  );
  const deliveryOf = (eventId: string) => {
    const stream = deliveries.get(eventId);
    assert.ok(stream);
    return stream;
  };

  /** Decides, stops, appends; decides again when another was faster. False: it was refused. */
  function* run<S, C, E, R>(stream: Stream<S, C, E, R>, command: C): Generator<void, boolean> {
    for (;;) {
      const revision = stream.events.length;
      const decision = stream.decider.decide(command, stream.state);
      if (!decision.ok) return false;
      if (decision.events.length === 0) return true;
      yield;
      if (stream.events.length !== revision) continue;
      stream.append(decision.events);
      return true;
    }
  }

  const onBundle = (command: Parameters<typeof bundle.decide>[0]) => run(life, command);

  /** Of the step's records alone. */
  const requestFor = (step: Step, undo: boolean): Request =>
    request({
      event_id: undo ? step.undo_event_id : step.event_id,
      origin: asked.origin,
      endpoint_id: undo ? (step.compensation?.endpoint_id ?? null) : step.endpoint_id,
      cost: undo ? null : step.cost,
      bundle: { id: BUNDLE, index: step.index, undo },
    });

  function* admitted(step: Step, undo: boolean, cancel: boolean): Generator<void, void> {
    const carried = requestFor(step, undo);
    const stream = deliveryOf(carried.event_id);
    yield* run(stream, { type: "Admit", request: carried });
    if (cancel) yield* run(stream, { type: "Cancel", reason: "rolled back", at: now() });
    const { state } = stream;
    const end = stepEndOf(state);
    if (end === null) return;
    yield* onBundle({ type: undo ? "EndUndo" : "EndStep", index: step.index, ...end, at: now() });
  }

  function* reactor(): Generator<void, void> {
    for (;;) {
      yield;
      const next = nextOf(life.state);
      if (!("index" in next)) continue;
      const { index } = next;
      const [step, scripted] = [asked.steps[index], scene.steps[index]];
      assert.ok(step !== undefined && scripted !== undefined);
      switch (next.do) {
        case "start":
          yield* scripted.isRefused
            ? onBundle({ type: "RefuseStep", index, refusal: { code: "missing-result", detail: "" }, at: now() })
            : onBundle({ type: "StartStep", index, payload: PAYLOAD, at: now() });
          break;
        case "undo":
          yield* onBundle({ type: "StartUndo", index, payload: PAYLOAD, at: now() });
          break;
        default:
          yield* admitted(step, next.do === "admit-undo", next.do === "cancel-step");
      }
    }
  }

  /** The target's side of one request: nothing may reach it that is not written down. */
  const received = (webhookId: string, attempt: Attempt): void => {
    const begun = life.events.some(
      (event) => (event.type === "StepStarted" || event.type === "UndoStarted") && event.data.event_id === webhookId,
    );
    assert.ok(begun, `${webhookId} is sent before its start is recorded`);
    if (!HAS_EFFECT.has(attempt) || effects.some((effect) => effect.webhookId === webhookId)) return;
    effects.push({ webhookId, nth: effects.length });
  };

  function* attempted(eventId: string, target: Target, node: string): Generator<void, void> {
    const { attempts, reported, deletedAtS } = target;
    const stream = deliveryOf(eventId);
    if (deletedAtS !== null && deletedAtS <= nowS) {
      const failure = { kind: "endpoint-deleted", detail: "" } as const;
      yield* run(stream, { type: "GiveUp", failure, node, othersAreGone: false, at: now() });
      return;
    }
    const leaseUntilS = nowS + LEASE_S;
    const times = { at: now(), leaseUntil: at(leaseUntilS) };
    const start = { endpointId: "end_1", trigger: "auto", node, othersAreGone: false, ...times } as const;
    if (!(yield* run(stream, { type: "StartAttempt", ...start }))) return;
    const { state } = stream;
    if (state.phase !== "attempting" || state.lease.node !== node) return;
    const number = state.attempts;
    yield;
    // A request lives shorter than its lease.
    if (nowS >= leaseUntilS) return;
    const attempt = attempts[Math.min(number, attempts.length) - 1] ?? "refused";
    received(eventId, attempt);
    yield;
    const said = ANSWERS.has(attempt) && reported !== null ? { cost_reported: reported } : {};
    const timings_ms = { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 };
    const end: Omit<AttemptEnd, "status_code"> = {
      ...{ event_id: eventId, endpoint_id: "end_1", number, at: now(), duration_ms: 1, timings_ms },
      ...said,
    };
    if (attempt === "done") {
      yield* run(stream, { type: "Succeed", end: { ...end, status_code: 200 } });
      const isInForce = nowS < leaseUntilS;
      const { state: after } = stream;
      assert.ok(!isInForce || after.phase === "delivered", `${eventId} has succeeded`);
      return;
    }
    const { failure, status } = FAILURES[attempt];
    const retryable = attempt !== "gone" && number < ATTEMPTS_MAX;
    const nextAttemptAt = retryable ? at(nowS + RETRY_S) : null;
    const failed = { end: { ...end, status_code: status }, failure, retryable, nextAttemptAt };
    yield* run(stream, { type: "Fail", ...failed });
  }

  function* deliverer(node: string): Generator<void, void> {
    for (;;) {
      yield;
      for (const { index, event_id, undo_event_id } of asked.steps) {
        const scripted = scene.steps[index];
        assert.ok(scripted);
        for (const [id, target] of [
          [event_id, scripted.forward],
          [undo_event_id, scripted.undo],
        ] as const) {
          const { state } = deliveryOf(id);
          if (isActive(state)) yield* attempted(id, target, node);
        }
      }
    }
  }

  function* people(): Generator<void, void> {
    if (scene.decision === "release") {
      yield* onBundle({ type: "Release", approvalId: "apr_1", digest: DIGEST, at: now() });
    } else if (scene.decision === "reject") {
      yield* onBundle({ type: "EndHold", outcome: "rejected", reason: "no", at: now() });
    }
  }

  function* caller(): Generator<void, void> {
    if (scene.cancelAfter === null) return;
    for (let turn = 0; turn < scene.cancelAfter; turn += 1) yield;
    yield* onBundle({ type: "Cancel", reason: "asked for", at: now() });
  }

  const begins = [reactor, () => deliverer("node_1"), reactor, () => deliverer("node_2"), people, caller] as const;
  const actors = begins.map((begin) => begin());

  const decided =
    scene.decision === "admit" ? ({ type: "Admit" } as const) : ({ type: "Hold", approval: heldFor() } as const);
  for (const _ of onBundle({ ...decided, request: asked }));

  const takeTurn = (turn: number): void => {
    nowS += 1;
    actors[turn % actors.length]?.next();
  };
  for (const { turn, crash } of scene.schedule) {
    const which = turn % actors.length;
    const begin = begins[which];
    if (crash && begin !== undefined) actors[which] = begin();
    takeTurn(which);
  }
  const hasEnded = (state: Bundle): boolean =>
    state.phase === "stopped" || (state.phase === "running" && state.end !== null);
  for (let turn = 0; !hasEnded(life.state); turn += 1) {
    assert.ok(turn < TURNS_MAX, "it has no end");
    takeTurn(turn);
  }
  return {
    request: asked,
    state: life.state,
    events: life.events,
    effects,
    deliveryOf: (eventId) => deliveryOf(eventId).events,
  };
};
