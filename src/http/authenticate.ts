import type { Principal } from "./route.ts";

export type PresentedCredential =
  | { readonly kind: "session"; readonly token: string }
  | { readonly kind: "bearer"; readonly token: string };

/** Every invalid credential is null, so that the caller does not learn why. */
export type Authenticate = (presented: PresentedCredential) => Promise<Principal | null>;

/** The prefix `__Host-` makes browsers insist on Secure, Path=/ and no Domain (RFC 6265bis, section 4.1.3.2). */
export const SESSION_COOKIE = "__Host-session";
