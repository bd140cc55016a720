import type { Randomness } from "../../domain/ports/randomness.ts";
import { isSameHash, keyedHash } from "../../infra/crypto/keyed-hash.ts";

/** What a one-time link lets its holder do. */
export type LinkPurpose = "invitation" | "reset" | "start";

const HOUR_MS = 60 * 60 * 1_000;

/**
 * How long a link opens something. An invitation may wait for somebody who is on holiday; a reset link takes a login over, so
 * it lives for a day; the machine's own are used by the person who made them.
 */
export const LINK_LIFETIME_MS = {
  invitation: 7 * 24 * HOUR_MS,
  reset: 24 * HOUR_MS,
  start: 24 * HOUR_MS,
  recovery: HOUR_MS,
} as const;

/** 256 bits: nobody guesses one, so guesses need not be counted. */
const SECRET_BYTES = 32;
/** The secret in base64url, then the ids of the account and the member, so that a token finds its stream. */
const MEMBER_TOKEN = /^([\w-]{43})\.(acc_[a-z2-7]{32})\.(mem_[a-z2-7]{32})$/;
const START_TOKEN = /^[\w-]{43}$/;
export const TOKEN_LENGTH_MAX = 128;

/** What a token says of itself. It is believed only when the MAC in the log fits. */
export type MemberToken = { readonly secret: string; readonly account: string; readonly member: string };

/** Null for what no link of a member ever carried. */
export const memberTokenOf = (text: string): MemberToken | null => {
  const [, secret, account, member] = MEMBER_TOKEN.exec(text) ?? [];
  return secret === undefined || account === undefined || member === undefined ? null : { secret, account, member };
};

export const isStartToken = (text: string): boolean => START_TOKEN.test(text);

/** Where a link's holder goes. The token is in the fragment, which a browser sends to nobody. */
const PAGE: Readonly<Record<LinkPurpose, string>> = { invitation: "join", reset: "reset", start: "start" };

/** `publicUrl` without a slash at the end. */
export const linkUrl = (publicUrl: string, purpose: LinkPurpose, token: string): string =>
  `${publicUrl}/${PAGE[purpose]}#${token}`;

/**
 * One-time links. The log keeps an HMAC-SHA-256 over the purpose, the secret and whom the link stands for: whoever reads the
 * log cannot use a link, and whoever writes to it cannot give one to somebody else.
 */
export type Links = {
  secret(): string;
  /** Hex. */
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
