import type { Decider } from "../../../domain/decider.ts";
import type { EndpointCommand } from "../../../domain/endpoint/commands.ts";
import {
  type Endpoint,
  type EndpointRejection,
  endpoint as endpointDecider,
  type PresentEndpoint,
  SECRETS_MAX,
} from "../../../domain/endpoint/decider.ts";
import type { EndpointEvent } from "../../../domain/endpoint/events.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import type { HeaderDigest } from "../../../infra/crypto/header-digest.ts";
import type { SecretBox } from "../../../infra/crypto/secret-box.ts";
import type { AddressRules } from "../../../infra/http/addresses.ts";
import type { Controls } from "../../change-control/control-change.ts";
import { isEndpointId } from "../../change-control/references.ts";
import { type Call, type Handler, type Input, positionOf } from "../../http/route.ts";
import type { Slots } from "../../ledgers/slots.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { changedMeanwhile, notFound, type Problem, problem } from "../../streams/problems.ts";
import type { EndpointTestDeps } from "./endpoint-test.ts";

export type EndpointsDeps = EndpointTestDeps & {
  readonly slots: Slots;
  readonly aggregates: Aggregates;
  readonly views: Pick<ViewStore, "get" | "page">;
  readonly box: SecretBox;
  readonly headerDigest: HeaderDigest;
  readonly addresses: Pick<AddressRules, "vetUrl">;
  readonly controls: Controls;
  readonly policyExists: (account: string, id: string) => Promise<boolean>;
};

export type Handle<I extends Input = object> = (deps: EndpointsDeps) => Handler<I>;
export type OfOne = { readonly params: "id" };

export const streamOf = (endpointId: string): string => `endpoint-${endpointId}`;

export const PROBLEM_OF: Record<EndpointRejection | "changed-meanwhile", Problem> = {
  "changed-meanwhile": changedMeanwhile(),
  "not-found": notFound(),
  "person-required": problem(
    "person-required",
    "Only a person with a session may set secret headers of an endpoint that needs approvals, make them readable, or send them to another URL.",
  ),
  conflict: problem("conflict", "This endpoint existed and was deleted."),
  "too-many-secrets": problem(
    "conflict",
    `${SECRETS_MAX} secrets sign at once. A new one can be made when the oldest has expired, 24 hours after its successor.`,
  ),
};

/** The endpoint that the path names; null if it is not one of the caller's account. */
export const own = async (
  { aggregates }: EndpointsDeps,
  { principal, params }: Call<OfOne>,
): Promise<PresentEndpoint | null> => {
  const { id } = params;
  if (!isEndpointId(id)) return null;
  const { state } = await aggregates.load(endpointDecider, streamOf(id));
  return state.phase === "present" && state.account === principal.account ? state : null;
};

export const controlled = ({ endpointId: id, settings: { policy_id } }: PresentEndpoint) =>
  ({ kind: "endpoint", id, base: { policy_id } }) as const;

type EndpointDecider = Decider<Endpoint, EndpointCommand, EndpointEvent, EndpointRejection | "changed-meanwhile">;

export const runEndpointCommand = async (
  deps: EndpointsDeps,
  call: Call,
  endpointId: string,
  { command, decider = endpointDecider }: { readonly command: EndpointCommand; readonly decider?: EndpointDecider },
) => {
  const done = await deps.aggregates.handle(decider, streamOf(endpointId), command, call.envelope);
  if (done.outcome === "rejected") return PROBLEM_OF[done.rejection];
  return { state: done.state, position: positionOf(done) };
};
