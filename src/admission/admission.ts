import { iso } from "../../domain/calendar.ts";
import { activeSecrets, type PresentSource } from "../../domain/source/decider.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import type { SecretBox } from "../../infra/crypto/secret-box.ts";
import { type BodyReader, DIRECT_BYTES_MAX } from "../bodies/body-reader.ts";
import { BodyContent } from "../gates/incoming-request.ts";
import type { Answer } from "../http/route.ts";
import { answerDirectly, type Identity, identify, isByBody } from "../providers/identify.ts";
import { redactHeaders } from "../providers/redact.ts";
import type { WebhookRequest } from "../providers/request.ts";
import { verify } from "../providers/verify.ts";
import { eventIdOf } from "../streams/event-id.ts";
import { goOn, type OrPromise } from "../streams/or-promise.ts";
import { type Problem, problem } from "../streams/problems.ts";
import type { ActiveSource } from "./active-source.ts";
import { withoutBodyDigest } from "./body-digests.ts";
import { bodyKeys } from "./body-keys.ts";
import { contentEncodingOf, contentTypeOf } from "./content-headers.ts";
import type { Webhook } from "./webhook.ts";
import { type VerifiedWebhook, WebhookDecisions, type WebhookDecisionsDeps } from "./webhook-decisions.ts";

export type AdmissionDeps = WebhookDecisionsDeps & {
  readonly activeSource: ActiveSource;
  readonly box: Pick<SecretBox, "open">;
  readonly publicUrl: () => string;
  readonly webhookParser?: Pick<BodyReader, "run">;
};

/** No promise for what is answered at once, such as a signature that does not match. */
export type Admission = (webhook: Webhook) => OrPromise<Answer | Problem>;

type VerifiedRequest = {
  readonly webhook: Webhook;
  readonly source: PresentSource;
  readonly request: WebhookRequest;
  readonly content: BodyContent;
  readonly verifiedAt: number;
};

/** Returns the answer to a ping or to a failed signature; null if the signature holds. */
const answerUnverified = (
  deps: AdmissionDeps,
  { webhook, source, request, verifiedAt: nowMs }: VerifiedRequest,
): Answer | Problem | null => {
  const { sourceId, headers } = webhook;
  const { type, auth, account } = source;
  const ping = answerDirectly(type, "unsigned", request);
  if (ping !== null) return ping;
  const secrets = activeSecrets(source, iso(nowMs)).map((sealed) =>
    deps.box.open(sealed, { account, stream: `source-${sourceId}`, field: "secret" }),
  );
  const verified = verify(type, request, { auth, secrets }, nowMs);
  if (verified.ok) return null;
  deps.counts.signatureFailed({ account, id: sourceId }, verified.reason, webhook.ip, headers["user-agent"] ?? "");
  return problem("invalid-signature", verified.detail, { extra: { reason: verified.reason } });
};

/** A large body is parsed on another thread; a small one here, once for the delivery id and the gates. */
const identityOf = (deps: AdmissionDeps, { source, request }: VerifiedRequest): OrPromise<Identity> => {
  const { type, dedupe, account } = source;
  if (deps.webhookParser === undefined || request.body.length <= DIRECT_BYTES_MAX)
    return identify(type, request, dedupe);
  const { headers, rawHeaders, body, url } = request;
  return deps.webhookParser.run(account, "identity", { type, dedupe, headers, rawHeaders, body, url });
};

const incomingRequest = (
  { webhook, source, content, verifiedAt }: VerifiedRequest,
  deliveryKey: string,
  eventType: string,
): VerifiedWebhook => {
  const { sourceId, headers, body } = webhook;
  const { type, auth, account } = source;
  const { name, policy_id: policyId, endpoint_id: endpointId } = source.settings;
  return {
    source,
    account,
    policyId,
    endpointId,
    origin: { kind: "source", id: sourceId, name, type },
    eventId: eventIdOf(account, sourceId, deliveryKey),
    deliveryKey,
    eventType,
    body,
    contentType: contentTypeOf(headers["content-type"]),
    contentEncoding: contentEncodingOf(headers["content-encoding"]),
    json: content.json,
    text: content.text,
    isStrict: false,
    headers,
    shownHeaders: () => redactHeaders(headers, auth),
    trace: webhook.trace,
    receivedAt: webhook.receivedAt,
    authenticatedAt: verifiedAt,
    asked: null,
    sample: webhook.sample,
  };
};

export const admission = (deps: AdmissionDeps): Admission => {
  const decisions = new WebhookDecisions(deps);
  const withKeyOfBody = bodyKeys(deps);

  const decide = (it: VerifiedRequest, { deliveryKey, eventType }: Identity): Promise<Answer | Problem> => {
    const { webhook, source, verifiedAt } = it;
    const { type, dedupe, account } = source;
    const decideAs = (key: string) => decisions.decide(incomingRequest(it, key, eventType));
    const digestOf = { account, sourceId: webhook.sourceId, body: webhook.body };
    if (deliveryKey !== null) return decideAs(withoutBodyDigest(deliveryKey, digestOf, deps.digestKey));
    if (isByBody(type, dedupe)) return withKeyOfBody(digestOf, verifiedAt, decideAs);
    return decideAs(randomId("", deps.randomness));
  };

  const admit = (webhook: Webhook, source: PresentSource): OrPromise<Answer | Problem> => {
    const { sourceId, headers, rawHeaders, body } = webhook;
    const verifiedAt = deps.clock.now();
    const { type } = source;
    const url = `${deps.publicUrl()}/v1/webhooks/${type}/${sourceId}`;
    const content = new BodyContent(body);
    const request = { headers, rawHeaders, body, url, json: content.json };
    const it = { webhook, source, request, content, verifiedAt };
    const unverified = answerUnverified(deps, it);
    if (unverified !== null) return unverified;
    webhook.onVerified?.();
    const challenge = answerDirectly(type, "signed", request);
    if (challenge !== null) return challenge;
    return goOn(identityOf(deps, it), (identity) => decide(it, identity));
  };

  return (webhook) =>
    goOn(webhook.source ?? deps.activeSource(webhook.provider, webhook.sourceId), (source) =>
      "problem" in source ? source : admit(webhook, source),
    );
};
