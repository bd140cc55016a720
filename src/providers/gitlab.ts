import { hasHeader } from "./headers.ts";
import type { Scheme } from "./request.ts";
import { SIGNING_SECRET_PREFIX, standardWebhooks, token } from "./signature-schemes.ts";

const isSigningToken = (secret: string): boolean => secret.startsWith(SIGNING_SECRET_PREFIX);

const signed = standardWebhooks("webhook");
const secretToken = token(
  "x-gitlab-token",
  (value) => value,
  (secret) => !isSigningToken(secret),
);

/**
 * While a signing token replaces a secret token, a source has both. With the signing token alone, it refuses unsigned
 * requests.
 */
export const gitlabScheme: Scheme = (request, source) => {
  const signs = source.secrets.some(isSigningToken);
  const hasToken = !source.secrets.every(isSigningToken);
  const scheme = signs && (!hasToken || hasHeader(request.rawHeaders, "webhook-signature")) ? signed : secretToken;
  return scheme(request, source);
};
