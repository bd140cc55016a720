import { iso } from "../../../domain/calendar.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import { activeSecrets, type PresentSource, source as sourceDecider } from "../../../domain/source/decider.ts";
import type { SecretBox } from "../../../infra/crypto/secret-box.ts";
import type { Admission } from "../../admission/admission.ts";
import { credentialOf } from "../../approvals/requesters.ts";
import { named } from "../../http/named-schemas.ts";
import { windowCounter } from "../../http/rate-limit.ts";
import { ADMINS, type Handler, type JsonSchema, type Route, route } from "../../http/route.ts";
import { GATE_PROBLEMS } from "../../http/route-problems.ts";
import { type SampleRequest, sampleOf, sampleTypes } from "../../providers/samples/samples.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { notFound, type Problem, problem } from "../../streams/problems.ts";

export type SampleDeps = {
  readonly aggregates: Pick<Aggregates, "load">;
  readonly box: Pick<SecretBox, "open">;
  readonly admit: Admission;
  readonly clock: Clock;
  readonly publicUrl: () => string;
};

/** Samples of one account in an hour. They are free, so they must not become a way to send events beyond the plan. */
const SAMPLES_PER_HOUR = 120;
const HOUR_MS = 3_600_000;
const ACCOUNTS_MAX = 100_000;
const TYPE_LENGTH_MAX = 200;
const ID = /^src_[a-z2-7]{32}$/;

const BODY = named("SampleRequest", {
  type: "object",
  required: ["type"],
  additionalProperties: false,
  properties: {
    type: {
      type: "string",
      minLength: 1,
      maxLength: TYPE_LENGTH_MAX,
      description: "The provider's event type; providers[].sample_types in GET /v1/capabilities has them all",
      examples: ["payment_intent.succeeded"],
    },
  },
  examples: [{ type: "payment_intent.succeeded" }],
});

const ANSWER: JsonSchema = named("Sample", {
  type: "object",
  required: ["event_id", "status"],
  properties: {
    event_id: { type: "string" },
    status: { type: "string", description: "queued, held, or recorded if the source has no endpoint" },
    approval_id: { type: "string" },
  },
});

const unknownType = ({ type }: PresentSource, eventType: string): Problem => {
  const types = sampleTypes(type);
  const detail = `There is no sample ${JSON.stringify(eventType)} of ${type}. There are: ${types.join(", ")}.`;
  return problem("unknown-event-type", detail, { extra: { types } });
};

const tooMany = (retryAfterS: number): Problem =>
  problem("rate-limited", `An account can send ${SAMPLES_PER_HOUR} samples in an hour.`, { retryAfterS });

const sample = (deps: SampleDeps): Handler<{ body: typeof BODY; params: "id" }> => {
  const { aggregates, box, clock, publicUrl } = deps;
  const counter = windowCounter(clock, HOUR_MS, ACCOUNTS_MAX);

  /** Null if there is no sample of this type. */
  const requestOf = (source: PresentSource, eventType: string, seed: Uint8Array): SampleRequest | null => {
    const { account, sourceId, type, auth } = source;
    const at = clock.now();
    const [sealed] = activeSecrets(source, iso(at));
    if (sealed === undefined) throw new Error(`${sourceId} has no secret`);
    const secret = box.open(sealed, { account, stream: `source-${sourceId}`, field: "secret" });
    const url = `${publicUrl()}/v1/webhooks/${type}/${sourceId}`;
    return sampleOf(type, { eventType, secret, auth, url, at, seed });
  };

  return async ({ principal, params: { id }, body, envelope, secret, ip }) => {
    if (!ID.test(id)) return notFound();
    const { state: source } = await aggregates.load(sourceDecider, `source-${id}`);
    if (source.phase !== "present" || source.account !== principal.account) return notFound();
    const request = requestOf(source, body.type, secret("sample"));
    if (request === null) return unknownType(source, body.type);
    const counted = counter.take(principal.account, SAMPLES_PER_HOUR);
    if (!counted.ok) return tooMany(counted.resetS);
    return deps.admit({
      ...request,
      provider: source.type,
      sourceId: id,
      ip,
      trace: envelope.trace,
      receivedAt: clock.now(),
      sample: { by: credentialOf(principal) },
    });
  };
};

export const sampleRoutes = (deps: SampleDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/sources/{id}/sample",
    who: ADMINS,
    summary:
      "Send a realistic event of the source's provider, signed with its secret; it counts for neither quota nor bill",
    tag: "sources",
    body: BODY,
    problems: ["unknown-event-type", "source-paused", "rate-limited", "overloaded", ...GATE_PROBLEMS],
    answers: { 202: ANSWER },
    handle: sample(deps),
  }),
];
