import type { Principal } from "./route.ts";

/** An unchecked credential: the session cookie's value or the bearer token. */
export type Presented =
  | { readonly kind: "session"; readonly token: string }
  | { readonly kind: "bearer"; readonly token: string };

/** Null for every invalid credential: the caller must not learn the reason. */
export type Authenticate = (presented: Presented) => Promise<Principal | null>;

/** The prefix makes browsers insist on Secure, Path=/ and no Domain (RFC 6265bis, section 4.1.3.2). */
export const SESSION_COOKIE = "__Host-session";
