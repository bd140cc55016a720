import { bundle } from "../../domain/bundle/decider.ts";
import type { BundleEvent, BundleRequest, Step } from "../../domain/bundle/events.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Json } from "../../domain/json.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { HttpSender } from "../../domain/ports/sender.ts";
import { systemClock } from "../../infra/clock.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { bundles as bundlesView } from "../../projections/bundles.ts";
import { deliveryQueue } from "../../projections/delivery-queue.ts";
import { BundleRunner } from "../../src/bundles/bundle-runner.ts";
import { BUNDLE_REACTOR, bundleReactions, stoppedBundles } from "../../src/bundles/reactions.ts";
import type { StepGates } from "../../src/bundles/step-gates.ts";
import { Deliverer } from "../../src/delivery/deliverer.ts";
import { outbound } from "../../src/delivery/outbound.ts";
import { outcomes } from "../../src/execute/outcome-waits.ts";
import { Reactor } from "../../src/following/reactor.ts";
import { ledgers } from "../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../src/ledgers/place-status.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import { type Envelope, toEvents } from "../../src/streams/envelope.ts";
import { eventIdOf } from "../../src/streams/event-id.ts";
import { damageRecords } from "../../src/streams/payload-damage.ts";
import { payloadRef } from "../../src/streams/payload-ref.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { foldStream } from "../../src/streams/run-command.ts";
import { inlineProjector } from "../../src/views/view-progress.ts";
import { enoughBytes } from "./enough-bytes.ts";
import { ACCOUNT, AGENT_ID, agentsWorld, ENDPOINT, POLICY_ID, TRACE } from "./execute-world.ts";

/** One attempt and no other. */
const TARGET_ID = `end_${"b".repeat(32)}`;
const VIEWS = [bundlesView, deliveryQueue];

export type StepInput = Partial<Pick<Step, "reversibility" | "uses_results" | "cost">> & { readonly payload: Json };

const stepOf = (bundleId: string, index: number, { payload: _, ...over }: StepInput): Step => {
  const reversibility = over.reversibility ?? "compensable";
  const compensation = { name: "order.cancel", version: 1, endpoint_id: TARGET_ID };
  return {
    index,
    event_id: eventIdOf(ACCOUNT, bundleId, `${index}`),
    undo_event_id: eventIdOf(ACCOUNT, bundleId, `${index}/undo`),
    action: { name: "order.create", version: 1, digest: `d${index}` },
    endpoint_id: TARGET_ID,
    compensation: reversibility === "compensable" ? compensation : null,
    uses_results: false,
    cost: null,
    ...over,
    reversibility,
  };
};

const systems = (at: string): Envelope => ({
  commandId: `cmd_${randomness.number()}`,
  account: ACCOUNT,
  actor: { kind: "agent", id: AGENT_ID },
  trace: TRACE,
  at,
});

/** A log in which an agent and its target are there, and how a bundle of it is admitted. */
export const bundlesWorld = async () => {
  const world = await agentsWorld();
  const { log } = world;
  const now = (): string => new Date().toISOString();
  const registered = {
    ...{ ...ENDPOINT, retry_schedule_s: [], endpoint_id: TARGET_ID },
    ...{ account: ACCOUNT, secret: "whsec_c2VjcmV0", at: now() },
  };
  const endpoint = toEvents([{ type: "EndpointRegistered", data: registered }], systems(now()));
  await log.append(`endpoint-${TARGET_ID}`, "absent", endpoint);
  const kept = payloads(log, randomness);

  const requestOf = async (bundleId: string, steps: readonly StepInput[]): Promise<BundleRequest> => {
    const body = Buffer.from(JSON.stringify(steps.map(({ payload }) => payload)));
    const incoming = { body, contentType: "application/json", contentEncoding: "", headers: {} };
    const stored = await kept.keepAgain(bundleId, incoming, systems(now()));
    return {
      bundle_id: bundleId,
      name: null,
      origin: { kind: "agent", id: AGENT_ID, name: "helper", type: "agent" },
      key: bundleId,
      steps: steps.map((step, index) => stepOf(bundleId, index, step)),
      run: { id: "run-1", depth: 0 },
      payload: payloadRef(stored, incoming),
      digest: "d",
      verdict: { decision: "allow", policy: { id: POLICY_ID, version: 1 }, gates: [] },
      cost: null,
      received_at: now(),
      at: now(),
    };
  };

  return {
    ...world,
    async admit(bundleId: string, steps: readonly StepInput[]): Promise<void> {
      const event: BundleEvent = { type: "BundleAdmitted", data: await requestOf(bundleId, steps) };
      await log.append(`bundle-${bundleId}`, "absent", toEvents([event], systems(now())));
    },
    async cancel(bundleId: string, reason: string): Promise<void> {
      const event: BundleEvent = {
        type: "RollbackStarted",
        data: { bundle_id: bundleId, reason, index: null, at: now() },
      };
      await log.append(`bundle-${bundleId}`, "any", toEvents([event], systems(now())));
    },
    /** As another node records it once nothing is left to take back. */
    async end(bundleId: string): Promise<void> {
      const event: BundleEvent = { type: "BundleRolledBack", data: { bundle_id: bundleId, at: now() } };
      await log.append(`bundle-${bundleId}`, "any", toEvents([event], systems(now())));
    },
    /** The target is gone for good, or somebody has disabled its endpoint. */
    async disable(): Promise<void> {
      const data = { endpoint_id: TARGET_ID, reason: "gone", at: now() };
      await log.append(`endpoint-${TARGET_ID}`, "any", toEvents([{ type: "EndpointDisabled", data }], systems(now())));
    },
    /** The target has failed so often that nothing is sent to it for an hour. */
    async open(): Promise<void> {
      const counted = { consecutive_failures: 10, attempts: 10, failed: 10, reason: "failures-in-a-row" } as const;
      const next_probe_at = new Date(Date.now() + 3_600_000).toISOString();
      const data = { endpoint_id: TARGET_ID, ...counted, failing_since: now(), next_probe_at, at: now() };
      await log.append(`endpoint-${TARGET_ID}`, "any", toEvents([{ type: "EndpointOpened", data }], systems(now())));
    },
    async stateOf(bundleId: string) {
      return (await foldStream(log, bundle, `bundle-${bundleId}`)).state;
    },
  };
};

export type BundlesWorld = Awaited<ReturnType<typeof bundlesWorld>>;

export type BundleNodeOptions = {
  /** What the node sees of the world's log. */
  readonly log?: EventLog;
  /** Every other node that held a lease is gone. */
  readonly isAlone?: boolean;
  readonly gates?: StepGates;
  readonly clock?: Clock;
  readonly onError?: (error: unknown) => void;
};

const fail = (error: unknown): never => {
  throw error;
};

let nodes = 0;

/** The parts of the program that move bundles on, as `service.ts` puts them together. */
export const startBundleNode = async (world: BundlesWorld, options: BundleNodeOptions = {}) => {
  const { log = world.log, isAlone = false, gates = async () => null, clock = systemClock, onError = fail } = options;
  nodes += 1;
  const streams = aggregates(log, clock);
  const views = memoryViewStore(VIEWS.map(({ schema }) => schema));
  // The views are the world's: they show what the log has, whatever becomes of the node.
  const progress = await inlineProjector({ log: world.log, views, projections: VIEWS, clock, onError: fail });
  const sender: HttpSender = {
    async send({ headers, body }) {
      const text = Buffer.from(body).toString();
      world.target.arrivals.push({ id: String(headers["webhook-id"]), headers, body: text });
      return world.target.answer(text);
    },
    close: async () => undefined,
  };
  const common = { log, clock, onError };
  const kept = payloads(
    log,
    randomness,
    damageRecords(log, clock, () => undefined),
  );
  const waiting = outcomes({ log, decider: bundle, category: "bundle", onError });
  const delivering = new Deliverer({
    allowances: enoughBytes,
    ...{ ...common, views, aggregates: streams, randomness, payloads: kept, sender },
    outbound: outbound({ open: (sealed) => sealed }, "test"),
    node: `bundle_node_${nodes}`,
    othersAreGone: isAlone,
    onChanged: (eventId, known) => runner.delivered(eventId, known),
  });
  const about = { ...common, aggregates: streams, outcomes: waiting };
  const runner = new BundleRunner({ ...about, randomness, payloads: kept, gates, deliver: delivering });
  const places = ledgers({ ...common, randomness, placeStatus: placeStatus(log, clock, randomness), orphanAgeMs: 0 });
  const reacting = new Reactor(
    { log, clock, onError },
    [...bundleReactions({ ...about, ledgers: places, runner }), ...stoppedBundles({ ...about, views, progress })],
    { ...BUNDLE_REACTOR, gatherMs: 1 },
  );
  delivering.start();
  reacting.start();
  return {
    runner,
    outcomes: waiting,
    async stop() {
      await delivering.stop(0);
      await reacting.stop();
      await runner.stop();
      await progress.stop();
    },
  };
};

/** What a delivery of a bundle came to. */
const _deliveryOf = async (log: EventLog, eventId: string) =>
  (await foldStream(log, delivery, `delivery-${eventId}`)).state;
