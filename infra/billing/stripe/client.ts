import { Stripe } from "stripe";
import { within } from "../../within.ts";
import { BillingUnavailable } from "../errors.ts";

/** Where Stripe is, and what of it is ours. */
export type StripePlace = {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Ids of the monthly prices of the plans. */
  readonly prices: Readonly<Record<"starter" | "core" | "scale", string>>;
  /** Id of the metered price by which Stripe collects overage; null: Stripe counts it, and nobody collects. */
  readonly overagePrice: string | null;
  /** The `event_name` of the meter of overage. */
  readonly meterEvent: string;
  /** Null: Stripe's own. */
  readonly apiUrl: string | null;
  /** How long what takes several calls may take altogether; tests wait less. */
  readonly answerMs?: number;
};

/** A person waits for most of what is asked, and browsers and proxies with them: no longer than this. */
const ANSWER_MS = 9_000;
/** Of one call, so that it can be tried again meanwhile. */
const TIMEOUT_MS = 4_000;
/** Lost calls are repeated under one idempotency key, which the SDK makes. */
const RETRIES_MAX = 2;

export const stripeClient = ({ secretKey, apiUrl }: Pick<StripePlace, "secretKey" | "apiUrl">): Stripe => {
  const at = apiUrl === null ? null : new URL(apiUrl);
  return new Stripe(secretKey, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES_MAX,
    telemetry: false,
    ...(at === null
      ? {}
      : {
          host: at.hostname,
          protocol: at.protocol === "http:" ? "http" : "https",
          ...(at.port === "" ? {} : { port: at.port }),
        }),
  });
};

/** Of a Stripe error; null of any other. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Stripe.errors.StripeError ? (error.code ?? error.type) : null;

/** Whatever Stripe answers with instead of what was asked for, as the port has it; no answer in time among it. */
export const asked = async <T>(
  { answerMs = ANSWER_MS }: Pick<StripePlace, "answerMs">,
  what: string,
  call: () => Promise<T>,
): Promise<T> => {
  const done = call().catch((error: unknown) => {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    throw new BillingUnavailable(`Stripe: ${what}: ${error.message}`, { cause: error });
  });
  const late = `Stripe: ${what}: no answer in ${answerMs} ms`;
  return within(answerMs, late, done).catch((error: unknown) => {
    throw error instanceof Error && error.message === late ? new BillingUnavailable(late) : error;
  });
};
