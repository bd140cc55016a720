import type { BundleCommand, BundleRejection } from "../../../domain/bundle/commands.ts";
import { bundle } from "../../../domain/bundle/decider.ts";
import { type Bundle, requestOf, resolutionOf } from "../../../domain/bundle/state.ts";
import { defined } from "../../../domain/defined.ts";
import type { Words } from "../../../domain/personal/words.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { Condition, ViewStore } from "../../../domain/ports/view-store.ts";
import { type BundleDocument, bundles } from "../../../projections/bundles.ts";
import type { ApprovalRequests } from "../../approvals/approval-requests.ts";
import { bundleAnswer, hasEnded, heldFor } from "../../bundles/answer.ts";
import type { BeginBundle } from "../../bundles/bundle-claim.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { untilEndedOrHeld } from "../../execute/end-waits.ts";
import type { Outcomes } from "../../execute/outcome-waits.ts";
import { OPTIONAL_REASON_BODY, REASON_BODY } from "../../http/json-schema.ts";
import { isPage, listOf, pageOf } from "../../http/listing.ts";
import { type Answer, type Call, type Handler, type Input, positionOf, type Route, route } from "../../http/route.ts";
import { GATE_PROBLEMS } from "../../http/route-problems.ts";
import { valuesOf } from "../../http/several-values.ts";
import { timeRangeOf } from "../../http/time-range.ts";
import { withStatuses } from "../../http/with-statuses.ts";
import { bundleStream, isBundleId } from "../../streams/bundle-id.ts";
import { notFound, type Problem, problem } from "../../streams/problems.ts";
import { foldStream, latestOf, runCommand, type StreamState } from "../../streams/run-command.ts";
import { DEPTH_HEADER, depthOf, WAIT_MS, WAIT_QUERY } from "../agents/request-input.ts";
import { eraseBundlePayload } from "./bundle-payload.ts";
import { answerTo, type BundleReadingDeps, type OfOne } from "./bundle-reading.ts";
import { BUNDLE, BUNDLE_BODY, BUNDLE_SUMMARY, ERASED, LIST_QUERY, RESOLVE_BODY } from "./bundle-schemas.ts";
import { bundleSummary } from "./bundle-summary.ts";

export type BundleRoutesDeps = BundleReadingDeps & {
  readonly views: Pick<ViewStore, "page" | "count">;
  readonly begin: BeginBundle;
  readonly approvals: Pick<ApprovalRequests, "recorded">;
  readonly outcomes: Pick<Outcomes<Bundle>, "wait" | "changed">;
  readonly personal: Pick<PersonalData, "keep" | "forget" | "read" | "shown">;
};

type Handle<I extends Input = object> = (deps: BundleRoutesDeps) => Handler<I>;

const VIEW = bundles.schema.name;
/** Matches the index of a step: no bundle has more than a hundred steps. Leading zeros are refused. */
const INDEX = /^(?:0|[1-9]\d?)$/;

const REASON = {
  agent: "The agent cancelled it.",
  member: "A person cancelled it.",
  key: "It was cancelled.",
} as const;

const PROBLEM_OF: Record<BundleRejection, () => Problem> = {
  "not-found": notFound,
  "already-ended": () => problem("conflict", "The bundle has ended: nothing is left to cancel."),
  "nothing-to-resolve": () =>
    problem("conflict", "Nothing of this step is left to undo by hand: read the bundle again."),
  "already-decided": () => problem("conflict", "The bundle has already been decided."),
  "not-held": () => problem("conflict", "The bundle is not held."),
  "not-next": () => problem("conflict", "The bundle has changed meanwhile."),
  "digest-mismatch": () => problem("digest-mismatch", "This is not the bundle that was approved."),
};

const begin: Handle<{ body: typeof BUNDLE_BODY }> =
  ({ log, begin, outcomes }) =>
  async (call) => {
    const { principal, envelope, key, userAgent } = call;
    const { name = null, steps, run_id: runId = null, wait_ms: waitMs = WAIT_MS } = call.body;
    const depth = depthOf(call);
    if (typeof depth !== "number") return depth;
    const { account, id: agentId } = principal;
    const { trace } = envelope;
    const begun = await begin({ account, agentId, key: key ?? "", name, steps, runId, depth, userAgent, trace });
    if ("problem" in begun) return begun;
    const { bundleId: id, known, replayed, position } = begun;
    const awaited = { id, known, heldFor, hasEnded };
    const seen = await untilEndedOrHeld(log, outcomes, awaited, { account, waitMs, signal: call.closing });
    const answer = await bundleAnswer({ log, account }, seen);
    return {
      ...answer,
      ...(replayed ? { headers: { ...answer.headers, "idempotent-replayed": "true" } } : {}),
      ...positionOf({ position: latestOf(position, answer.position) }),
    };
  };

/** The bundle that the path names; null if it is another account's, and for an agent if it is another agent's. */
const own = async (log: EventLog, { principal, params }: Call<OfOne>): Promise<StreamState<Bundle> | null> => {
  const { id } = params;
  if (!isBundleId(id)) return null;
  let owner: string | null = null;
  const known = await foldStream(log, bundle, bundleStream(id), {
    onEvent: ({ meta }) => {
      owner ??= meta.account;
    },
  });
  const request = requestOf(known.state);
  if (request === null || owner !== principal.account) return null;
  return principal.kind === "agent" && request.origin.id !== principal.id ? null : known;
};

/** `bundleAnswer` chooses a status for the agent's own request; a mere read answers 200 instead. */
const shown = (answer: Answer): Answer => ({ ...answer, status: 200 });

const show: Handle<{ query: typeof WAIT_QUERY; params: "id" }> = (deps) => async (call) => {
  const { principal, params, query, closing: signal } = call;
  const { id } = params;
  const known = await own(deps.log, call);
  if (known === null) return notFound();
  const { wait_ms: waitMs } = query;
  const { account } = principal;
  const seen = await deps.outcomes.wait(id, known, { account, isEnough: hasEnded, waitMs, signal });
  const busy = deps.bodyReader?.indebted(account) ?? null;
  if (busy !== null) return busy;
  const { position: _, ...answer } = await answerTo(deps, call, seen);
  return shown(answer);
};

const list: Handle<{ query: typeof LIST_QUERY }> =
  ({ views, personal }) =>
  async ({ principal, query }) => {
    const range = timeRangeOf(query);
    if ("problem" in range) return range;
    const { agent_id, policy_id, gate } = query;
    const where: readonly Condition[] = [
      { field: "account", is: "=", value: principal.account },
      ...(principal.kind === "agent" ? [{ field: "agent_id", is: "=", value: principal.id } as const] : []),
      ...Object.entries(defined({ agent_id, policy_id, gate })).map(
        ([field, value]) => ({ field, is: "=", value }) as const,
      ),
      ...(range.from === null ? [] : [{ field: "created_at", is: ">=", value: range.from } as const]),
      ...(range.to === null ? [] : [{ field: "created_at", is: "<", value: range.to } as const]),
    ];
    const sort = { field: "created_at", order: "desc" } as const;
    const listed = withStatuses(views, valuesOf(query.status));
    const page = await pageOf(listed, { view: VIEW, where, sort }, query, (document: BundleDocument, id) =>
      bundleSummary(id, document),
    );
    return isPage(page) ? { status: 200, body: await personal.shown(page, principal.account) } : page;
  };

const tell = async (
  deps: BundleRoutesDeps,
  call: Call<OfOne>,
  known: StreamState<Bundle>,
  command: BundleCommand,
): Promise<Answer | Problem> => {
  const { params, envelope } = call;
  const { id } = params;
  const ran = await runCommand(deps.log, { decider: bundle, stream: bundleStream(id), from: known, command, envelope });
  if (ran.outcome === "rejected") return PROBLEM_OF[ran.rejection]();
  deps.outcomes.changed(id, ran.known);
  const position = await deps.approvals.recorded(bundleStream(id), ran.known);
  const answer = await answerTo(deps, call, ran.known);
  return { ...answer, ...positionOf({ position: latestOf(position, answer.position) }) };
};

/** Words that were kept for a command are forgotten if it is refused, as then no record names them. */
const unlessRefused = async (
  { personal }: BundleRoutesDeps,
  words: string | Words,
  answer: Answer | Problem,
): Promise<Answer | Problem> => {
  if ("problem" in answer && typeof words !== "string") await personal.forget(words);
  return answer;
};

const cancel: Handle<{ body: typeof OPTIONAL_REASON_BODY; params: "id" }> = (deps) => async (call) => {
  const known = await own(deps.log, call);
  if (known === null) return notFound();
  const { envelope, principal, params } = call;
  const { reason: given } = call.body;
  const reason =
    given === undefined ? REASON[principal.kind] : await deps.personal.keep(bundleStream(params.id), given, envelope);
  const command = { type: "Cancel", reason, at: envelope.at } as const;
  return unlessRefused(deps, reason, await tell(deps, call, known, command));
};

const resolve: Handle<{ body: typeof RESOLVE_BODY; params: "id" | "index" }> = (deps) => async (call) => {
  const { principal, params, envelope } = call;
  const { index } = params;
  const known = await own(deps.log, call);
  const steps = known === null ? [] : (requestOf(known.state)?.steps ?? []);
  if (known === null || !INDEX.test(index) || Number(index) >= steps.length) return notFound();
  // The caller's role or session may have ended while the body arrived.
  if (principal.kind !== "member" || !(await call.isStillAllowed())) {
    return problem("forbidden", "Only a person with a session and the role approver may mark it as undone by hand.");
  }
  const given = call.body.comment.trim();
  const before = known.state.phase === "running" ? resolutionOf(known.state.steps[Number(index)]) : null;
  // A repeat names the same words, by which it is recognised.
  const isRepeat = before !== null && (await deps.personal.read(before.comment, principal.account)) === given;
  const comment = isRepeat ? before.comment : await deps.personal.keep(bundleStream(params.id), given, envelope);
  const said = { index: Number(index), by: principal.id, comment, at: envelope.at };
  const answer = await tell(deps, call, known, { type: "Resolve", ...said });
  if (!isRepeat) await unlessRefused(deps, comment, answer);
  return "problem" in answer ? answer : shown(answer);
};

const READS = { session: "viewer", key: "viewer", agent: true } as const;
const TAG = "bundles";

export const bundleRoutes = (deps: BundleRoutesDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/bundles",
    who: { agent: true },
    summary: "Execute several actions as one: if one fails, the completed ones are undone",
    tag: TAG,
    headers: DEPTH_HEADER,
    body: BUNDLE_BODY,
    problems: [
      "agent-suspended",
      "unknown-action",
      "invalid-bundle",
      "irreversible-not-last",
      "no-compensation",
      ...GATE_PROBLEMS,
    ],
    answers: { 200: BUNDLE, 202: BUNDLE },
    answersRepeats: true,
    waits: true,
    handle: begin(deps),
  }),
  route({
    method: "GET",
    path: "/v1/bundles",
    who: READS,
    summary: "List the bundles, newest first; an agent sees its own",
    tag: TAG,
    query: LIST_QUERY,
    answers: { 200: listOf(BUNDLE_SUMMARY) },
    reads: [VIEW],
    handle: list(deps),
  }),
  route({
    method: "GET",
    path: "/v1/bundles/{id}",
    who: READS,
    summary: "One bundle with its steps and what their targets answered; an agent sees its own",
    tag: TAG,
    query: WAIT_QUERY,
    answers: { 200: BUNDLE },
    reads: [VIEW],
    waits: true,
    handle: show(deps),
  }),
  route({
    method: "POST",
    path: "/v1/bundles/{id}/cancel",
    who: { session: "admin", key: "admin", agent: true },
    summary: "Cancel a bundle: start no further step and undo what was done; an agent cancels its own",
    tag: TAG,
    body: OPTIONAL_REASON_BODY,
    bodyOptional: true,
    problems: ["conflict"],
    answers: { 200: BUNDLE, 202: BUNDLE },
    always: true,
    handle: cancel(deps),
  }),
  route({
    method: "POST",
    path: "/v1/bundles/{id}/steps/{index}/resolve",
    who: { session: "approver" },
    summary: "Mark a step that could not be undone as undone by hand",
    tag: TAG,
    body: RESOLVE_BODY,
    problems: ["conflict"],
    answers: { 200: BUNDLE },
    always: true,
    handle: resolve(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/bundles/{id}/payload",
    who: { session: "admin" },
    summary: "Erase all that an ended bundle's steps and compensations were sent and answered; the records stay",
    tag: TAG,
    body: REASON_BODY,
    problems: ["conflict"],
    answers: { 200: ERASED },
    handle: (call) => eraseBundlePayload(deps, call),
  }),
];
