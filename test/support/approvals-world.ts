import { account } from "../../domain/account/decider.ts";
import type { Role } from "../../domain/account/events.ts";
import { agent } from "../../domain/agent/decider.ts";
import { approval } from "../../domain/approval/decider.ts";
import { FORM_NOT_STATED } from "../../domain/approval/events.ts";
import { approvalTerms } from "../../domain/approval/terms.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import { erasure } from "../../domain/delivery/erasure.ts";
import type { Origin, Request } from "../../domain/delivery/events.ts";
import { endpoint } from "../../domain/endpoint/decider.ts";
import type { EndpointSettings } from "../../domain/endpoint/events.ts";
import { decide } from "../../domain/gate/decide.ts";
import { policy } from "../../domain/policy/decider.ts";
import type { ApprovalRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { approvals } from "../../projections/approvals.ts";
import { events } from "../../projections/events.ts";
import { accountStream } from "../../src/accounts/accounts.ts";
import { approvalBinding } from "../../src/approvals/approval-binding.ts";
import { approvalExpiry } from "../../src/approvals/approval-expiry.ts";
import { approvalReactions } from "../../src/approvals/approval-reactions.ts";
import { approvalReleases } from "../../src/approvals/approval-releases.ts";
import { approvalRenewal } from "../../src/approvals/approval-renewal.ts";
import { approvalIdOf, approvalStream } from "../../src/approvals/approvals.ts";
import { formSalts } from "../../src/bodies/approval-form.ts";
import { type BodyReader, directBodyReader } from "../../src/bodies/body-reader.ts";
import type { Job } from "../../src/delivery/job.ts";
import { personalData } from "../../src/erasure/personal-data.ts";
import { policyCompiler } from "../../src/gates/compiled-policy.ts";
import type { Principal } from "../../src/http/route.ts";
import type { ByteAllowances } from "../../src/ledgers/byte-allowances.ts";
import { approvalRoutes } from "../../src/routes/approvals/approvals.ts";
import { type Aggregates, aggregates } from "../../src/streams/aggregates.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { runCommand } from "../../src/streams/run-command.ts";
import { caller } from "./call.ts";
import { enoughBytes } from "./enough-bytes.ts";
import { foldInto } from "./fold-into.ts";
import { testClock } from "./http-app.ts";
import { CLIENT, joinAccount } from "./members.ts";
import { NO_CALLS } from "./no-calls.ts";
import { noChanges } from "./no-controls.ts";
import { noLedgers } from "./no-ledgers.ts";
import { addressed, keepWords, words } from "./personal-words.ts";

const ACCOUNT = "acc_a";
const PROJECTIONS = [events, approvals];
const SHOP: Origin = { kind: "source", id: "src_1", name: "shop", type: "stripe" };
const TRACE = { trace_id: "0".repeat(31) + 1, span_id: "0".repeat(15) + 1 };

export const POLICY_ID = `pol_${"a".repeat(32)}`;
/** Ids as the service makes them: whatever is not one is no stream. */
const eventIdOf = (number: number): string => `evt_${"a".repeat(31)}${"abcdefgh"[number] ?? "z"}`;

export const person = (
  id: string,
  role: Role = "approver",
  account = ACCOUNT,
): Extract<Principal, { kind: "member" }> => ({
  kind: "member",
  account,
  id,
  ...addressed(`${id}@a.example`),
  role,
  session: `session-${id}`,
});

export type HoldOptions = {
  readonly rule?: Partial<ApprovalRule>;
  readonly body?: string | Buffer;
  readonly endpointId?: string | null;
  readonly member?: string;
  /** The provider's event type. */
  readonly type?: string;
  readonly origin?: Origin;
  /** Another policy that applies as well, under this id. */
  readonly also?: { readonly id: string; readonly definition: PolicyDefinition };
  /** Left out: the member. */
  readonly requesters?: readonly string[];
};

/** Everything of approvals over a log in memory: reactions, timer and views are run by hand, the clock is moved by hand. */
export const approvalsWorld = ({
  log = memoryEventLog(),
  bodyReader = () => directBodyReader,
  allowances = enoughBytes,
  views = memoryViewStore(PROJECTIONS.map(({ schema }) => schema)),
}: {
  readonly log?: EventLog;
  readonly bodyReader?: (clock: Clock) => BodyReader;
  readonly allowances?: Pick<ByteAllowances, "take">;
  /** Of the events and the approvals. */
  readonly views?: ViewStore;
} = {}) => {
  const clock = testClock();
  const reading = bodyReader(clock);
  const kept = payloads(log, randomness);
  const compile = policyCompiler();
  let commands = 0;

  const now = (): string => new Date(clock.now()).toISOString();
  const envelope = (principal?: Principal) => {
    commands += 1;
    const actor = { kind: principal?.kind ?? "system", id: principal?.id ?? "test" } as const;
    const account = principal?.account ?? ACCOUNT;
    return { commandId: `test-${commands}`, account, actor, trace: TRACE, at: now() };
  };

  /** Makes who votes a member, unless they are or were one. */
  const join = async (streams: Aggregates, who: Principal): Promise<void> => {
    if (who.kind !== "member") return;
    const { account: id, id: member, role } = who;
    const email = `${member}@a.example`;
    await keepWords(log, id, email);
    const opens = { type: "OpenAccount", account: id, name: "a", plan: "free", time_zone: "UTC" } as const;
    const founder = {
      member: "mem_founder",
      ...addressed("founder@a.example"),
      password: "",
      grant: "",
      client: CLIENT,
      at: now(),
    };
    await streams.handle(account, accountStream(id), { ...opens, ...founder }, envelope());
    await joinAccount(streams, { member, email, role }, { ...envelope(), account: id });
  };

  /** What it keeps in memory is its own, the log is not; `over` is the log as it sees it. */
  const node = (over: EventLog = log) => {
    const streams = aggregates(over, clock);
    const offered: Job[] = [];
    const deliver = { offer: (job: Job) => void offered.push(job) };
    const reactions = approvalReactions({ log: over, aggregates: streams, clock, deliver });
    const renewal = approvalRenewal({ log: over, aggregates: streams, clock, randomness });
    const releases = approvalReleases({ log: over, aggregates: streams, clock });
    const routes = approvalRoutes({
      personal: personalData(over, randomness),
      allowances,
      ...{ clock, ledgers: noLedgers, timeZoneOf: async () => "UTC" },
      calls: NO_CALLS,
      bodyReader: reading,
      aggregates: streams,
      log: over,
      views,
      payloads: kept,
      formSalt: formSalts(Buffer.alloc(32, 5)),
      releases,
      changes: noChanges,
      renewal,
    });
    const call = caller(routes);
    const onError = (error: unknown): void => {
      throw error;
    };
    return {
      streams,
      renewal,
      offered,
      routes,
      expiry: approvalExpiry({ log: over, views, aggregates: streams, clock, onError }),
      /** What the reactor does, with the whole log from its beginning. */
      async react(): Promise<void> {
        for (const event of await log.readAll(null, 500, "records"))
          for (const reaction of reactions) if (reaction.on === event.type) await reaction.run(event);
      },
      async vote(who: Principal, decision: "approve" | "reject", id: string, body: object, more = {}) {
        await join(streams, who);
        const about = { principal: who, params: { id }, body, envelope: envelope(who), ...more };
        return call("POST", `/v1/approvals/{id}/${decision}`, about);
      },
      /** An approving vote after which the node is gone, before it does anything else. */
      async voteAndDie(who: Principal & { readonly kind: "member" }, id: string, digest: string): Promise<void> {
        await join(streams, who);
        const { id: member_id, email, address } = who;
        const vote = { member_id, email, address, decision: "approve", comment: null } as const;
        const cast = { ...vote, ...FORM_NOT_STATED, at: now() };
        const about = { account: who.account, digest, members: new Set([who.id]) };
        await streams.handle(approval, approvalStream(id), { type: "CastVote", vote: cast, ...about }, envelope(who));
      },
      get: (id: string, who = person("mem_r")) =>
        call("GET", "/v1/approvals/{id}", { principal: who, params: { id }, envelope: envelope(who) }),
      list: (query: object = {}, who = person("mem_r")) =>
        call("GET", "/v1/approvals", { principal: who, query: { ...query }, envelope: envelope(who) }),
    };
  };
  const here = node();

  const publish = async (definition: PolicyDefinition, policyId = POLICY_ID): Promise<number> => {
    const command = {
      type: "PublishPolicy",
      policyId,
      account: ACCOUNT,
      definition,
      by: "mem_o",
      at: now(),
    };
    for (const type of ["PublishPolicy", "PublishPolicyVersion"] as const)
      await here.streams.handle(policy, `policy-${policyId}`, { ...command, type }, envelope());
    const { state } = await here.streams.load(policy, `policy-${policyId}`, 0);
    return state.phase === "published" ? state.version : 0;
  };

  /** Registered, unless it is there or was deleted. */
  const endpointThere = async (endpointId: string): Promise<void> => {
    const there = { name: "payments", url: "https://pay.example/hooks", timeout_ms: 10_000, retry_schedule_s: [] };
    const settings = {
      ...there,
      concurrency: 1,
      rate_per_second: null,
      headers: {},
      notifications: [],
      policy_id: null,
    };
    const about = { endpointId, account: ACCOUNT, settings, secret: "sealed", at: now() };
    const command = { type: "RegisterEndpoint", ...about } as const;
    await here.streams.handle(endpoint, `endpoint-${endpointId}`, command, envelope());
  };

  /** As the admission does: keeps the payload, asks the gates, writes the hold down. */
  const hold = async (number: number, options: HoldOptions = {}) => {
    const {
      body = '{"amount":120}',
      endpointId = "end_1",
      member,
      type = "payout.created",
      origin = SHOP,
      requesters,
    } = options;
    const rule: ApprovalRule = { expires_after_s: 3_600, ...options.rule };
    const definition: PolicyDefinition = {
      name: "payments",
      cost: { pointer: "amount" },
      redact: ["card"],
      approval: rule,
    };
    const version = await publish(definition);
    const { also } = options;
    const second = also === undefined ? null : { id: also.id, version: await publish(also.definition, also.id) };
    const others = second === null ? {} : { policies: [{ id: POLICY_ID, version }, second] };
    if (endpointId !== null) await endpointThere(endpointId);
    const bytes = Buffer.from(body);
    const eventId = eventIdOf(number);
    const incoming = { body: bytes, contentType: "application/json", contentEncoding: "", headers: {} };
    const payload = await kept.keepFirst(eventId, incoming, envelope());
    const compiled = compile(definition);
    if (!compiled.ok || payload === null) throw new Error("the world's own policy or payload");
    let json: unknown;
    try {
      json = JSON.parse(bytes.toString());
    } catch {
      json = undefined;
    }
    const source = { id: SHOP.id, name: SHOP.name, type: SHOP.type };
    const input = { payload: json, ambiguous: false, headers: {}, source, agent: null, action: null };
    const { gates, cost } = compiled.policy.check(input);
    const asked: Request = {
      event_id: eventId,
      origin,
      delivery_key: `k${number}`,
      type,
      payload: { ...payload, content_type: "application/json", size: bytes.length },
      endpoint_id: endpointId,
      verdict: { ...decide(gates, true), policy: { id: POLICY_ID, version }, ...others, gates },
      cost,
      received_at: now(),
      authenticated_at: now(),
      at: now(),
    };
    const approvalId = approvalIdOf(ACCOUNT, eventId);
    const { request, digest } = await approvalBinding({ aggregates: here.streams, clock }).ofEvent(ACCOUNT, asked);
    const replayer = member === undefined ? {} : { member };
    const about = {
      approvalId,
      digest,
      gates,
      atMs: clock.now(),
      ...replayer,
      requesters: requesters ?? (member === undefined ? [] : [member]),
    };
    const command = { type: "Hold", request, approval: approvalTerms([rule], about) } as const;
    await here.streams.handle(delivery, `delivery-${eventId}`, command, envelope());
    return { eventId, approvalId, digest, request };
  };

  const typesOf = async (stream: string): Promise<readonly string[]> =>
    (await log.read(stream, null, 100)).map(({ type }) => type);

  return {
    ...here,
    log,
    clock,
    views,
    another: node,
    /** Makes this person a member. */
    join: (who: Principal) => join(here.streams, who),
    publish,
    hold,
    /** Held, and people are asked. */
    async asked(number: number, options: HoldOptions = {}) {
      const held = await hold(number, options);
      await here.react();
      return held;
    },
    project: () => foldInto(log, views, PROJECTIONS),
    leave: (member: string) => {
      const by = { kind: "system", id: "test" } as const;
      const command = { type: "RemoveMember", member, by, at: now() } as const;
      return here.streams.handle(account, accountStream(ACCOUNT), command, envelope());
    },
    changeEndpoint: (id: string, changes: Partial<EndpointSettings>) =>
      here.streams.handle(
        endpoint,
        `endpoint-${id}`,
        { type: "ChangeEndpoint", account: ACCOUNT, changes, at: now() },
        envelope(),
      ),
    deleteEndpoint: (id: string) =>
      here.streams.handle(
        endpoint,
        `endpoint-${id}`,
        { type: "DeleteEndpoint", account: ACCOUNT, at: now() },
        envelope(),
      ),
    async erase(eventId: string): Promise<void> {
      const command = { type: "ErasePayload", upTo: null, eventId, reason: "asked for", at: now() } as const;
      const stream = `delivery-${eventId}`;
      await runCommand(log, { decider: erasure, stream, command, envelope: envelope() });
      await log.erase(`payload-${eventId}`);
    },
    /** Registers an agent, and suspends it a moment later. */
    async suspended(agentId: string, reason: string): Promise<void> {
      const stream = `agent-${agentId}`;
      const settings = { name: "refunds", policy_id: null, scope: { actions: ["*"] } };
      const key = { key_id: "agk_1", digest: "00", last4: "wxyz" };
      const register = { type: "RegisterAgent", agentId, account: ACCOUNT, settings, key, at: now() } as const;
      await here.streams.handle(agent, stream, register, envelope());
      const suspend = { type: "SuspendAgent", account: ACCOUNT, reason: words(reason), at: now() } as const;
      await keepWords(log, ACCOUNT, reason);
      await here.streams.handle(agent, stream, suspend, envelope());
    },
    cancel: (eventId: string, reason: string) =>
      here.streams.handle(delivery, `delivery-${eventId}`, { type: "Cancel", reason, at: now() }, envelope()),
    ofEvent: (eventId: string) => typesOf(`delivery-${eventId}`),
    ofApproval: (approvalId: string) => typesOf(approvalStream(approvalId)),
  };
};
