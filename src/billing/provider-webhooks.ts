import type { FastifyInstance } from "fastify";
import type { BillingProvider } from "../../domain/ports/billing.ts";
import type { CallCounts } from "../calls/call-counts.ts";
import { ArrivingBodies } from "../http/arriving-bodies.ts";
import { sendProblem } from "../http/problem-reply.ts";
import { listedProblems } from "../http/route-problems.ts";
import { problem } from "../streams/problems.ts";
import { type SubscriptionSyncDeps, subscriptionSync } from "./subscription-sync.ts";

/** The largest known webhooks of billing providers have less than 256 KiB. */
const BODY_BYTES_MAX = 1_048_576;

export type ProviderWebhooksDeps = SubscriptionSyncDeps & { readonly calls: Pick<CallCounts, "stranger"> };

const PROBLEMS = listedProblems("invalid-signature", "too-large", "request-timeout", "overloaded");

/** This route is not in the table of routes, because its credential is a signature over the raw body. */
export const providerWebhooks =
  (provider: BillingProvider, deps: ProviderWebhooksDeps) =>
  async (app: FastifyInstance): Promise<void> => {
    const { name, webhooks } = provider;
    if (webhooks === null) return;
    const sync = subscriptionSync(provider, webhooks, deps);
    // The signature is over the bytes, so the body is read as bytes, whatever its content type.
    app.addHook("onRequest", async ({ raw }) => {
      delete raw.headers["content-type"];
    });
    app.removeAllContentTypeParsers();
    const bodies = new ArrivingBodies();
    app.addContentTypeParser("*", (request, raw, done) => bodies.read(request, raw, BODY_BYTES_MAX, done));
    app.post(
      `/billing/${name}/webhook`,
      { bodyLimit: BODY_BYTES_MAX, schema: { hide: true }, config: { problems: PROBLEMS } },
      async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const notice = webhooks.read(request.headers, body);
        if (notice === "forged") {
          deps.calls.stranger("invalid-signature");
          const detail = "The signature is not valid for this body at this time.";
          return sendProblem(request, reply, problem("invalid-signature", detail));
        }
        if (notice === "malformed") {
          return sendProblem(
            request,
            reply,
            problem("invalid-request", "The signature is valid, but the body is not an event."),
          );
        }
        // If this throws, the webhook is not acknowledged, and the provider sends it again.
        const outcome = notice === null ? "ignored" : await sync(notice);
        return reply.header("cache-control", "no-store").send({ received: true, outcome });
      },
    );
  };
