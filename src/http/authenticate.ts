import type { Principal } from "./route.ts";

/** One credential as it came: the value of the session cookie, or what stood behind `Bearer`. Not checked in any way. */
export type Presented =
  | { readonly kind: "session"; readonly token: string }
  | { readonly kind: "bearer"; readonly token: string };

/** Null for every credential that does not hold, whatever the reason: the caller must not learn which. */
export type Authenticate = (presented: Presented) => Promise<Principal | null>;

/** The prefix makes browsers insist on Secure, Path=/ and no Domain (RFC 6265bis, section 4.1.3.2). */
export const SESSION_COOKIE = "__Host-session";
