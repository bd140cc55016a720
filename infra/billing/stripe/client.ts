import { Stripe } from "stripe";
import { withTimeout } from "../../with-timeout.ts";
import { BillingUnavailable } from "../errors.ts";

export type StripeOptions = {
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly prices: Readonly<Record<"starter" | "core" | "scale", string>>;
  /** The id of the metered price that bills overage; null if Stripe only counts the overage. */
  readonly overagePrice: string | null;
  readonly meterEvent: string;
  /** Null for Stripe's own URL. */
  readonly apiUrl: string | null;
  readonly answerMs?: number;
};

/** Milliseconds for Stripe's answer with all retries: a person waits, and browsers and proxies wait longer. */
const ANSWER_MS = 9_000;
const TIMEOUT_MS = 4_000;
const RETRIES_MAX = 2;

export const stripeClient = ({ secretKey, apiUrl }: Pick<StripeOptions, "secretKey" | "apiUrl">): Stripe => {
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
          port: at.port || (at.protocol === "http:" ? 80 : 443),
        }),
  });
};

/** The error's code or, without one, its type; null if the error did not come from Stripe. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Stripe.errors.StripeError ? (error.code ?? error.type) : null;

export const callStripe = async <T>(
  { answerMs = ANSWER_MS }: Pick<StripeOptions, "answerMs">,
  what: string,
  call: () => Promise<T>,
): Promise<T> => {
  const done = call().catch((error: unknown) => {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    throw new BillingUnavailable(`Stripe: ${what}: ${error.message}`, { cause: error });
  });
  const late = `Stripe: ${what}: no answer in ${answerMs} ms`;
  return withTimeout(answerMs, late, done).catch((error: unknown) => {
    throw error instanceof Error && error.message === late ? new BillingUnavailable(late) : error;
  });
};
