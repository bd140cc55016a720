import { createHmac } from "node:crypto";
import { PLANS, type Plan } from "../../domain/account/plans.ts";
import { approval } from "../../domain/approval/decider.ts";
import { FORM_NOT_STATED } from "../../domain/approval/events.ts";
import type { PublishedPolicy } from "../../domain/policy/decider.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { PresentSource } from "../../domain/source/decider.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { activeSource } from "../../src/admission/active-source.ts";
import { admission } from "../../src/admission/admission.ts";
import { webhookCounts } from "../../src/admission/webhook-counts.ts";
import { approvalReactions } from "../../src/approvals/approval-reactions.ts";
import { approvalIdOf, approvalStream } from "../../src/approvals/approvals.ts";
import { Tallies } from "../../src/calls/tallies.ts";
import { compiledPolicies } from "../../src/gates/compiled-policy.ts";
import { ledgers } from "../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../src/ledgers/place-status.ts";
import { type Aggregates, aggregates } from "../../src/streams/aggregates.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { enoughBytes } from "./enough-bytes.ts";
import { addressed } from "./personal-words.ts";

export const ACCOUNT = "acc_1";
const SOURCE_ID = `src_${"a".repeat(32)}`;
const SECRET = "secret";
const TRACE = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };
const MEMBERS = new Set(["mem_1", "mem_2"]);

/** So small that a short story fills it. */
export const TINY: Plan = { ...PLANS.free, eventsPerMonth: 4 };

const definition: PolicyDefinition = {
  name: "tiny",
  rate_per_minute: 3,
  deny: [{ name: "never", when: "payload.never == true" }],
  approval: { when: "payload.large == true", expires_after_s: 3_600 },
};

const source: PresentSource = {
  phase: "present",
  sourceId: SOURCE_ID,
  account: ACCOUNT,
  type: "hmac",
  auth: null,
  dedupe: { header: "X-Delivery-Id" },
  settings: { name: "s", policy_id: "pol_1", endpoint_id: null, status: "active" },
  secrets: [{ sealed: SECRET, madeBy: "mem_1", until: null }],
  createdAt: "2026-01-01T00:00:00.000Z",
};
const policy: PublishedPolicy = {
  phase: "published",
  policyId: "pol_1",
  account: ACCOUNT,
  version: 1,
  definition,
  createdBy: "key_1",
  createdAt: "2026-01-01T00:00:00.000Z",
};

/** A source and a policy that are there; whatever else is loaded is the log's. */
const withThem = (streams: Aggregates): Aggregates => ({
  ...streams,
  load: async (decider, stream, maxAgeMs) => {
    const there = stream.startsWith("source-") ? source : stream.startsWith("policy-") ? policy : null;
    // The two deciders that these streams are loaded with.
    return there === null ? streams.load(decider, stream, maxAgeMs) : ({ state: there, revision: 0 } as never);
  },
});

export type Answered = {
  readonly outcome: string | number;
  readonly eventId: string | null;
  readonly status: string;
  readonly position?: Position | undefined;
};

/** One node, as far as an event goes through it until it is admitted: what it keeps in memory dies with it. */
export const admissionNode = (log: EventLog, clock: Clock) => {
  const failures: unknown[] = [];
  const onError = (error: unknown): void => void failures.push(error);
  const streams = withThem(aggregates(log, clock));
  const places = ledgers({
    log,
    clock,
    randomness,
    placeStatus: placeStatus(log, clock, randomness),
    orphanAgeMs: 0,
    onError,
  });
  const counted = new Tallies({ log, clock, randomness, onError });
  const deliver = { lease: () => null, offer: () => undefined };
  const admit = admission({
    ...{ log, clock, randomness, deliver },
    activeSource: activeSource(streams),
    aggregates: streams,
    box: { open: (sealed) => sealed },
    payloads: payloads(log, randomness),
    ledgers: places,
    counts: webhookCounts(counted, clock),
    policies: compiledPolicies(),
    publicUrl: () => "http://localhost",
    accountOf: async () => ({ plan: TINY, timeZone: "UTC" }),
    digestKey: Buffer.alloc(32),
    allowances: enoughBytes,
  });
  const reactions = approvalReactions({ log, aggregates: streams, clock, deliver });

  return {
    async send(id: string, payload: object): Promise<Answered> {
      const body = Buffer.from(JSON.stringify({ id, ...payload }));
      const signature = createHmac("sha256", SECRET).update(body).digest("hex");
      const headers = { "x-signature": signature, "x-delivery-id": id, "content-type": "application/json" };
      const request = {
        provider: "hmac",
        sourceId: SOURCE_ID,
        headers,
        rawHeaders: Object.entries(headers).flat(),
        body,
      };
      const answer = await admit({ ...request, ip: "127.0.0.1", trace: TRACE, receivedAt: clock.now() });
      if ("problem" in answer) return { outcome: answer.problem, eventId: null, status: "" };
      const { event_id, status } = answer.body as { event_id: string; status: string };
      return { outcome: answer.status, eventId: event_id, status, position: answer.position };
    },
    async decide(eventId: string, decision: "approve" | "reject"): Promise<void> {
      const stream = approvalStream(approvalIdOf(ACCOUNT, eventId));
      const { state } = await streams.load(approval, stream, 0);
      if (state.phase !== "requested") return;
      const at = new Date(clock.now()).toISOString();
      const person = { member_id: "mem_1", ...addressed("a@a.example") };
      const vote = { ...person, decision, comment: null, ...FORM_NOT_STATED, at } as const;
      const command = {
        type: "CastVote",
        account: ACCOUNT,
        digest: state.request.digest,
        members: MEMBERS,
        vote,
      } as const;
      const envelope = {
        commandId: `${eventId}/${at}`,
        account: ACCOUNT,
        actor: { kind: "member", id: "mem_1" },
      } as const;
      await streams.handle(approval, stream, command, { ...envelope, trace: TRACE, at });
    },
    /** What the reactor does, with the whole log from its beginning. */
    async react(): Promise<void> {
      for (const event of await log.readAll(null, 10_000, "records"))
        for (const reaction of reactions) if (reaction.on === event.type) await reaction.run(event);
    },
    async rest(): Promise<void> {
      await places.idle();
      await counted.flush(true);
    },
  };
};
