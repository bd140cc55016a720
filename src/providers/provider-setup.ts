import type { ProviderType } from "../../domain/source/events.ts";

/** How a person connects a provider: who makes the secret, and what to do there, step by step. */
export type ProviderSetup = {
  /** `provider`: it makes the secret and shows it; `either`: it takes one that is made here. */
  readonly secret_from: "provider" | "either";
  readonly steps: readonly string[];
};

const provider = (...steps: string[]): ProviderSetup => ({ secret_from: "provider", steps });
const either = (...steps: string[]): ProviderSetup => ({ secret_from: "either", steps });

export const PROVIDER_SETUP: Readonly<Record<ProviderType, ProviderSetup>> = {
  stripe: provider(
    "Open Developers › Webhooks in the Stripe dashboard and choose Add destination.",
    "Paste this address as the endpoint URL, and select the events that you need.",
    "Copy the signing secret, which begins with whsec_, from the page of the destination.",
  ),
  github: either(
    "Open Settings › Webhooks of the repository or organization and choose Add webhook.",
    "Paste this address as the payload URL, and choose application/json as the content type.",
    "Paste the secret, and select the events that you need.",
  ),
  shopify: provider(
    "Open Settings › Notifications › Webhooks in the Shopify admin and choose Create webhook.",
    "Choose the event and JSON, and paste this address as the URL.",
    "Copy the signing key that is shown below the list of webhooks.",
  ),
  gitlab: either(
    "Open Settings › Webhooks of the project or group and choose Add new webhook.",
    "Paste this address as the URL, and the secret as the secret token.",
    "Select the events that you need, and keep the verification of certificates.",
  ),
  bitbucket: either(
    "Open Repository settings › Webhooks and choose Add webhook.",
    "Paste this address as the URL, and the secret as the secret.",
    "Select the events that you need.",
  ),
  woocommerce: either(
    "Open WooCommerce › Settings › Advanced › Webhooks and choose Add webhook.",
    "Paste this address as the delivery URL, and the secret as the secret.",
    "Choose the topic, and set the status to Active.",
  ),
  square: provider(
    "Open your application in the Square developer console, then Webhooks › Subscriptions, and add one.",
    "Paste this address as the notification URL, and select the events that you need.",
    "Copy the signature key of the subscription.",
  ),
  paddle: provider(
    "Open Developer tools › Notifications in Paddle and choose New destination.",
    "Paste this address as the URL, and select the events that you need.",
    "Copy the secret key of the destination.",
  ),
  adyen: provider(
    "Open Developers › Webhooks in the Adyen customer area and add a standard webhook.",
    "Paste this address as the server URL.",
    "Generate the HMAC key there, and copy it before you save.",
  ),
  slack: provider(
    "Open your app at api.slack.com/apps, and copy the signing secret from Basic Information.",
    "Store the secret below first, because Slack checks the address at once.",
    "Open Event Subscriptions, switch it on, and paste this address as the request URL.",
  ),
  "standard-webhooks": either(
    "Paste this address where the sender asks for the URL of your webhook endpoint.",
    "Give the sender the secret, or copy the one that it shows, which begins with whsec_.",
  ),
  hmac: either(
    "Let the sender post to this address.",
    "Let it sign the raw body with the secret, and put the signature into the header X-Signature, in hexadecimal.",
  ),
  bearer: either(
    "Let the sender post to this address.",
    "Let it send the secret in the header Authorization, after the word Bearer.",
  ),
};
