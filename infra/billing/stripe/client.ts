import { Stripe } from "stripe";
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
};

/** A person waits for most of the calls. */
const TIMEOUT_MS = 10_000;
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

/** Whatever Stripe answers with instead of what was asked for, as the port has it. */
export const asked = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    throw new BillingUnavailable(`Stripe: ${what}: ${error.message}`, { cause: error });
  }
};
