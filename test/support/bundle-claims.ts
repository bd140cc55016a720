import { PLANS } from "../../domain/account/plans.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { type BundleOrder, bundleClaim } from "../../src/bundles/bundle-claim.ts";
import { stepGates } from "../../src/bundles/step-gates.ts";
import { executing } from "../../src/execute/agent-requests.ts";
import { compiledActions } from "../../src/gates/compiled-action.ts";
import { compiledPolicies } from "../../src/gates/compiled-policy.ts";
import { ledgers } from "../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../src/ledgers/place-status.ts";
import { actionId } from "../../src/streams/action-stream.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import { toEvents } from "../../src/streams/envelope.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { enoughBytes } from "./enough-bytes.ts";
import { ACCOUNT, AGENT_ID, agentsWorld, LEDGER, TRACE } from "./execute-world.ts";

/** Two euros each, as `refund.create` of the world. */
const ACTIONS: Readonly<Record<string, JsonObject>> = {
  "order.create": { reversibility: "compensable", compensation: "order.cancel" },
  "order.cancel": { reversibility: "irreversible" },
  "mail.send": { reversibility: "irreversible" },
  "free.list": { reversibility: "reversible", cost: { fixed_eur: 0 } },
  "order.pay": {
    ...{ reversibility: "reversible", cost: { pointer: "/amount" } },
    schema: { type: "object", properties: { amount: { type: "number", maximum: 100 } } },
  },
};

/** A log in which an agent may ask for bundles of several kinds of actions. */
export const claimsWorld = async (policy: Partial<PolicyDefinition> = {}) => {
  const world = await agentsWorld(policy);
  const at = new Date().toISOString();
  let versions = 0;
  const tell = (stream: string, type: string, data: JsonObject) =>
    world.log.append(
      stream,
      "any",
      toEvents([{ type, data }], {
        ...{ commandId: `cmd_${randomness.number()}`, account: ACCOUNT, trace: TRACE, at },
        actor: { kind: "system", id: "test" },
      }),
    );
  const define = (name: string, definition: JsonObject) => {
    versions += 1;
    return tell(`action-${actionId(ACCOUNT, name)}`, "ActionDefined", {
      ...{ action_id: actionId(ACCOUNT, name), account: ACCOUNT, name, version: versions, by: "key_1", at },
      definition: { endpoint_id: `end_${"a".repeat(32)}`, cost: { fixed_eur: 2 }, ...definition },
    });
  };
  for (const [name, definition] of Object.entries(ACTIONS)) await define(name, definition);
  return {
    ...world,
    define,
    remove: (name: string) =>
      tell(`action-${actionId(ACCOUNT, name)}`, "ActionDeleted", {
        action_id: actionId(ACCOUNT, name),
        account: ACCOUNT,
        name,
        at,
      }),
    scope: (actions: readonly string[]) =>
      world.tell({ type: "AgentChanged", data: { agent_id: AGENT_ID, changes: { scope: { actions } }, at } }),
  };
};

export type ClaimsWorld = Awaited<ReturnType<typeof claimsWorld>>;

export type ClaimNodeOptions = {
  /** What the node sees of the world's log. */
  readonly log?: EventLog;
  readonly orphanAgeMs?: number;
  readonly onError?: (error: unknown) => void;
};

const fail = (error: unknown): never => {
  throw error;
};

/** What decides on bundles and single requests in a process; nobody delivers. */
export const claimNode = (world: ClaimsWorld, options: ClaimNodeOptions = {}) => {
  const { log = world.log, orphanAgeMs = 30_000, onError = fail } = options;
  const { clock } = world;
  const places = ledgers({
    ...{ log, clock, randomness, orphanAgeMs, onError },
    placeStatus: placeStatus(log, clock, randomness),
  });
  const deps = {
    ...{ log, clock, randomness, ledgers: places, aggregates: aggregates(log, clock) },
    payloads: payloads(log, randomness),
    policies: compiledPolicies(),
    actions: compiledActions(),
    digestKey: Buffer.alloc(32, 1),
    allowances: enoughBytes,
    accountOf: async () => ({ plan: PLANS.free, timeZone: "UTC" }),
  };
  const begin = bundleClaim(deps);
  const execute = executing({ ...deps, deliver: { offer: () => undefined } });
  const about = { account: ACCOUNT, agentId: AGENT_ID, runId: null, depth: 0, userAgent: "test", trace: TRACE };
  return {
    ledgers: places,
    gates: stepGates(deps),
    ask: (key: string, steps: BundleOrder["steps"], over: Partial<BundleOrder> = {}) =>
      begin({ ...about, key, name: null, steps, ...over }),
    execute: (key: string, action: string, payload: JsonObject) =>
      execute({ ...about, key, action, payload, costMicro: null }),
    figures: () => places.figures(LEDGER, ACCOUNT),
  };
};

export type ClaimNode = ReturnType<typeof claimNode>;
