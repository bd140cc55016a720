import type { Principal } from "./route.ts";

export type PresentedCredential =
  | { readonly kind: "session"; readonly token: string }
  | { readonly kind: "bearer"; readonly token: string };

/** Any invalid credential is answered with null, so that the caller does not learn what is wrong with it. */
export type Authenticate = (presented: PresentedCredential) => Promise<Principal | null>;

/** Browsers accept a cookie with the prefix `__Host-` only with Secure, Path=/ and no Domain (RFC 6265bis, 4.1.3.2). */
export const SESSION_COOKIE = "__Host-session";
