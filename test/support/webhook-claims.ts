import { PLANS, type Plan } from "../../domain/account/plans.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { claiming, type EventClaimResult } from "../../src/admission/claim-event.ts";
import { claimingNew, type NewClaimDeps } from "../../src/admission/claim-new-event.ts";
import { compiledPolicies } from "../../src/gates/compiled-policy.ts";
import type { IncomingRequest } from "../../src/gates/incoming-request.ts";
import { type Ledgers, ledgers } from "../../src/ledgers/ledgers.ts";
import type { LedgerMemory } from "../../src/ledgers/ledgers-in-memory.ts";
import { placeStatus } from "../../src/ledgers/place-status.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import { toEvents } from "../../src/streams/envelope.ts";
import { eventIdOf } from "../../src/streams/event-id.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { foldStream } from "../../src/streams/run-command.ts";
import { enoughBytes } from "./enough-bytes.ts";

export const ACCOUNT = "acc_1";
export const POLICY_ID = "pol_1";
const SOURCE_ID = "src_1";
const TRACE = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };

export const webhookId = (key: string): string => eventIdOf(ACCOUNT, SOURCE_ID, key);

type Clock = { ms: number; now(): number };
const clockAt = (at: string): Clock => ({
  ms: Date.parse(at),
  now() {
    return this.ms;
  },
});

export type ClaimsWorld = { readonly log: EventLog; readonly clock: Clock; readonly plan: Plan };

/** A log with one published policy. */
export const claimsWorld = async (
  at: string,
  limits: Omit<PolicyDefinition, "name">,
  plan: Plan = PLANS.scale,
  log: EventLog = memoryEventLog(),
): Promise<ClaimsWorld> => {
  const definition: JsonObject = { name: "claims", cost: { pointer: "cost" }, ...limits };
  const data = { policy_id: POLICY_ID, account: ACCOUNT, version: 1, definition, created_by: "key_1", at };
  const envelope = {
    commandId: "cmd_1",
    account: ACCOUNT,
    actor: { kind: "key", id: "key_1" },
    trace: TRACE,
    at,
  } as const;
  await log.append(`policy-${POLICY_ID}`, "absent", toEvents([{ type: "PolicyPublished", data }], envelope));
  return { log, clock: clockAt(at), plan };
};

export type ClaimNode = {
  readonly ledgers: Ledgers;
  /** Decides on a webhook with this delivery key. `reads`: its stream is read first, as that of a request which is sent again. */
  send(key: string, payload: JsonObject, reads?: boolean): Promise<EventClaimResult>;
};

/** One node, as far as a webhook goes through it from its signature to its verdict. `log` is the log as this node sees it. */
export const claimNode = (
  { log: whole, clock, plan }: ClaimsWorld,
  {
    log = whole,
    orphanAgeMs = 30_000,
    onError = (error) => {
      throw error;
    },
    memory,
    deliver = { lease: () => null, offer: () => undefined },
    endpointId = null,
    allowances = enoughBytes,
  }: {
    readonly log?: EventLog;
    readonly orphanAgeMs?: number;
    readonly onError?: (error: unknown) => void;
    readonly memory?: LedgerMemory | undefined;
    readonly deliver?: NewClaimDeps["deliver"];
    readonly endpointId?: string | null;
    readonly allowances?: NewClaimDeps["allowances"];
  } = {},
): ClaimNode => {
  const deps = { log, clock, randomness, placeStatus: placeStatus(log, clock, randomness), orphanAgeMs, onError };
  const places = ledgers(deps, memory);
  const claims = {
    ...{ log, clock, randomness, ledgers: places, aggregates: aggregates(log, clock) },
    payloads: payloads(log, randomness),
    policies: compiledPolicies(),
    digestKey: Buffer.alloc(32, 1),
    allowances,
    accountOf: async () => ({ plan, timeZone: "UTC" }),
    deliver,
  };
  const claim = claiming(claims);
  const claimNew = claimingNew(claims);
  return {
    ledgers: places,
    async send(key, payload, reads = false) {
      const body = Buffer.from(JSON.stringify(payload));
      const eventId = webhookId(key);
      const it: IncomingRequest = {
        ...{ eventId, account: ACCOUNT, policyId: POLICY_ID, endpointId, deliveryKey: key, eventType: "order" },
        origin: { kind: "source", id: SOURCE_ID, name: "shop", type: "hmac" },
        ...{ body, contentType: "application/json", contentEncoding: "", json: () => payload, isStrict: true },
        ...{ headers: {}, shownHeaders: () => ({}), trace: TRACE, asked: null },
        ...{ receivedAt: clock.ms, authenticatedAt: clock.ms },
      };
      return reads ? claim(it, await foldStream(log, delivery, `delivery-${eventId}`)) : claimNew(it);
    },
  };
};
