import type { Randomness } from "../../domain/ports/randomness.ts";
import { isSameHash, keyedHash } from "../../infra/crypto/keyed-hash.ts";

export type LinkPurpose = "invitation" | "reset" | "start";

const HOUR_MS = 60 * 60 * 1_000;

/** Whoever has a reset link can take over a login, so it expires sooner than an invitation. */
export const LINK_LIFETIME_MS = {
  invitation: 7 * 24 * HOUR_MS,
  reset: 24 * HOUR_MS,
  start: 24 * HOUR_MS,
  recovery: HOUR_MS,
} as const;

/** Nobody can guess 256 bits, so failed attempts to use a link are not counted. */
const SECRET_BYTES = 32;
/** A token is a secret in base64url, and the ids of the account, whose stream has the link, and the member. */
const MEMBER_TOKEN = /^([\w-]{43})\.(acc_[a-z2-7]{32})\.(mem_[a-z2-7]{32})$/;
const START_TOKEN = /^[\w-]{43}$/;
export const TOKEN_LENGTH_MAX = 128;

/** The ids come from the caller and are untrusted until the MAC in the log matches. */
export type MemberToken = { readonly secret: string; readonly account: string; readonly member: string };

export const memberTokenOf = (text: string): MemberToken | null => {
  const [, secret, account, member] = MEMBER_TOKEN.exec(text) ?? [];
  return secret === undefined || account === undefined || member === undefined ? null : { secret, account, member };
};

export const isStartToken = (text: string): boolean => START_TOKEN.test(text);

/** The token is in the fragment of these pages' addresses, which browsers do not send to any server. */
const PAGE: Readonly<Record<LinkPurpose, string>> = { invitation: "join", reset: "reset", start: "start" };

export const linkUrl = (publicUrl: string, purpose: LinkPurpose, token: string): string =>
  `${publicUrl}/${PAGE[purpose]}#${token}`;

/** The log has an HMAC over purpose, secret and ids: its readers cannot use a link, and its forgers cannot make one. */
export type Links = {
  secret(): string;
  mac(purpose: LinkPurpose, secret: string, standsFor: readonly string[]): string;
  matches(purpose: LinkPurpose, secret: string, standsFor: readonly string[], mac: string): boolean;
};

export const links = (key: Uint8Array, randomness: Randomness): Links => {
  const hash = keyedHash(key, "links");
  const mac: Links["mac"] = (purpose, secret, standsFor) => hash(purpose, secret, ...standsFor);
  return {
    secret: () => Buffer.from(randomness.bytes(SECRET_BYTES)).toString("base64url"),
    mac,
    matches: (purpose, secret, standsFor, recorded) => isSameHash(mac(purpose, secret, standsFor), recorded),
  };
};

export const memberToken = ({ secret, account, member }: MemberToken): string => `${secret}.${account}.${member}`;
