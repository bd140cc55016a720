import type { IncomingHttpHeaders } from "node:http";
import type { HmacAuth, ProviderType } from "../../../domain/source/events.ts";
import { bitbucketSamples, githubSamples, gitlabSamples } from "./code.ts";
import { shopifySamples, woocommerceSamples } from "./commerce.ts";
import { momentOf, type Samples } from "./moment.ts";
import { ownSamples, slackSamples, standardSamples } from "./others.ts";
import { adyenSamples, paddleSamples, squareSamples, stripeSamples } from "./payments.ts";
import {
  type Signer,
  signAdyen,
  signBearer,
  signCustom,
  signGitlab,
  signPaddle,
  signSlack,
  signStandard,
  signStripe,
  signWithMac,
  signWooCommerce,
} from "./sign.ts";

type ProviderSamples = { readonly samples: Samples; readonly sign: Signer };

const SAMPLES: Readonly<Record<ProviderType, ProviderSamples>> = {
  stripe: { samples: stripeSamples, sign: signStripe },
  github: { samples: githubSamples, sign: signWithMac("x-hub-signature-256", { encoding: "hex", prefix: "sha256=" }) },
  shopify: { samples: shopifySamples, sign: signWithMac("x-shopify-hmac-sha256", { encoding: "base64" }) },
  gitlab: { samples: gitlabSamples, sign: signGitlab },
  bitbucket: {
    samples: bitbucketSamples,
    sign: signWithMac("x-hub-signature", { encoding: "hex", prefix: "sha256=" }),
  },
  woocommerce: { samples: woocommerceSamples, sign: signWooCommerce },
  square: {
    samples: squareSamples,
    sign: signWithMac("x-square-hmacsha256-signature", { encoding: "base64", before: ({ url }) => url }),
  },
  paddle: { samples: paddleSamples, sign: signPaddle },
  adyen: { samples: adyenSamples, sign: signAdyen },
  slack: { samples: slackSamples, sign: signSlack },
  "standard-webhooks": { samples: standardSamples, sign: signStandard },
  hmac: { samples: ownSamples, sign: signCustom },
  bearer: { samples: ownSamples, sign: signBearer },
};

export type SampleOrder = {
  readonly eventType: string;
  readonly secret: string;
  readonly auth: HmacAuth | null;
  readonly url: string;
  /** ms since 1970. */
  readonly at: number;
  /** The ids in the sample are derived from it. */
  readonly seed: Uint8Array;
};

/** A signed request as it would have come from the provider. */
export type SampleRequest = {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
};

export const sampleTypes = (type: ProviderType): readonly string[] => Object.keys(SAMPLES[type].samples);

/** Null if there is no sample of this event type. */
export const sampleOf = (type: ProviderType, { eventType, at, seed, ...about }: SampleOrder): SampleRequest | null => {
  const { samples, sign } = SAMPLES[type];
  const make = Object.hasOwn(samples, eventType) ? samples[eventType] : undefined;
  if (make === undefined) return null;
  const moment = momentOf(at, seed);
  const signed = sign(make(moment), { ...about, seconds: moment.seconds, deliveryId: `msg_${moment.id()}` });
  const headers = { "content-type": "application/json", ...signed.headers };
  return { headers, rawHeaders: Object.entries(headers).flat(), body: signed.body };
};
