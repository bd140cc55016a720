import { hasHeader } from "./headers.ts";
import type { Scheme } from "./request.ts";
import { SIGNING_SECRET_PREFIX, standardWebhooks, token } from "./schemes.ts";

const isSigningToken = (secret: string): boolean => secret.startsWith(SIGNING_SECRET_PREFIX);

const signed = standardWebhooks("webhook");
const secretToken = token(
  "x-gitlab-token",
  (value) => value,
  (secret) => !isSigningToken(secret),
);

/**
 * A signing token (Standard Webhooks) or the older secret token, by the secret that was registered: both while one
 * replaces the other. A source with a signing token alone cannot be reached by leaving the signature out.
 */
export const gitlabScheme: Scheme = (request, source) => {
  const signs = source.secrets.some(isSigningToken);
  const hasToken = !source.secrets.every(isSigningToken);
  const scheme = signs && (!hasToken || hasHeader(request.rawHeaders, "webhook-signature")) ? signed : secretToken;
  return scheme(request, source);
};
