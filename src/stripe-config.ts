import { defined } from "../domain/defined.ts";
import { ConfigError, type Env } from "./config-error.ts";
import type { StripeOptions } from "./engine/open-engines.ts";

const METER_EVENT = /^[\w.-]{1,100}$/;

/** Null if Stripe is not configured. Throws ConfigError, which repeats no value, because it may be a secret. */
export const readStripe = (env: Env): StripeOptions | null => {
  const secretKey = env.STRIPE_SECRET_KEY;
  if (secretKey === undefined || secretKey === "") {
    const others = Object.keys(env).filter((name) => name.startsWith("STRIPE_") && env[name]);
    if (others.length === 0) return null;
    // If this were ignored, a misspelt STRIPE_SECRET_KEY would mean that nothing is charged, without any warning.
    throw new ConfigError(
      `STRIPE_SECRET_KEY is missing, but ${others.join(", ")} is set: set it, or unset the others.`,
    );
  }
  if (!/^(?:sk|rk)_[\x21-\x7e]+$/.test(secretKey)) {
    throw new ConfigError("STRIPE_SECRET_KEY has to be a secret or restricted key of Stripe, like sk_live_….");
  }
  const needed = {
    STRIPE_WEBHOOK_SECRET: env.STRIPE_WEBHOOK_SECRET || null,
    STRIPE_PRICE_STARTER: env.STRIPE_PRICE_STARTER || null,
    STRIPE_PRICE_CORE: env.STRIPE_PRICE_CORE || null,
    STRIPE_PRICE_SCALE: env.STRIPE_PRICE_SCALE || null,
  };
  const { STRIPE_WEBHOOK_SECRET: webhookSecret } = needed;
  const { STRIPE_PRICE_STARTER: starter, STRIPE_PRICE_CORE: core, STRIPE_PRICE_SCALE: scale } = needed;
  if (webhookSecret === null || starter === null || core === null || scale === null) {
    const missing = Object.entries(needed).filter(([, value]) => value === null);
    const names = missing.map(([name]) => name).join(", ");
    throw new ConfigError(`STRIPE_SECRET_KEY is set without ${names}: set what is missing, or unset it.`);
  }
  if (!/^whsec_[\x21-\x7e]+$/.test(webhookSecret)) {
    throw new ConfigError("STRIPE_WEBHOOK_SECRET has to be the signing secret of a webhook endpoint, like whsec_….");
  }
  const overagePrice = env.STRIPE_PRICE_OVERAGE || null;
  const named = defined({ STARTER: starter, CORE: core, SCALE: scale, OVERAGE: overagePrice ?? undefined });
  const odd = Object.entries(named).find(([, id]) => !/^price_\w+$/.test(id));
  if (odd !== undefined) throw new ConfigError(`STRIPE_PRICE_${odd[0]} has to be the id of a price, like price_….`);
  const prices = [starter, core, scale, ...(overagePrice === null ? [] : [overagePrice])];
  if (new Set(prices).size < prices.length) {
    throw new ConfigError("STRIPE_PRICE_STARTER, _CORE, _SCALE and _OVERAGE name one price twice: each needs its own.");
  }
  const meterEvent = env.STRIPE_METER_EVENT || "countersign_overage_blocks";
  if (!METER_EVENT.test(meterEvent)) {
    throw new ConfigError(
      `STRIPE_METER_EVENT is "${meterEvent}": it takes up to 100 letters, digits, dots, dashes and _.`,
    );
  }
  const apiUrl = env.STRIPE_API_URL || null;
  if (apiUrl !== null && !(URL.canParse(apiUrl) && /^https?:\/\/[^/?#@]+\/?$/.test(apiUrl))) {
    throw new ConfigError(
      "STRIPE_API_URL has to be an http or https address without a path, like http://127.0.0.1:12111.",
    );
  }
  return { secretKey, webhookSecret, prices: { starter, core, scale }, overagePrice, meterEvent, apiUrl };
};
