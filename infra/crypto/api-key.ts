import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { derivedId } from "./ids.ts";

/** `csk` is an account's key, `csa` an agent's, `css` a command line's session; secret scanners know the prefix. */
export type KeyPrefix = "csk" | "csa" | "css";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BODY_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const BODY_SPACE = 62n ** BigInt(BODY_LENGTH);
/** A key is the remainder of the secret: with 256 bits for a key's 178, no key is noticeably likelier than another. */
const SECRET_BYTES_MIN = 32;
const KEY = /^(csk|csa|css)_[0-9A-Za-z]{36}$/;

const base62 = (value: bigint, length: number): string => {
  let text = "";
  let rest = value;
  for (let i = 0; i < length; i += 1) {
    text = BASE62.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
};

const checksum = (text: string): string => base62(BigInt(crc32(text)), CHECKSUM_LENGTH);

export const bearerKey = (prefix: KeyPrefix, secret: Uint8Array): string => {
  if (secret.length < SECRET_BYTES_MIN) throw new Error(`a key is made from at least ${SECRET_BYTES_MIN} bytes`);
  const body = base62(BigInt(`0x${Buffer.from(secret).toString("hex")}`) % BODY_SPACE, BODY_LENGTH);
  const head = `${prefix}_${body}`;
  return head + checksum(head);
};

/** Checks prefix, form and checksum, so that mistyped or invented keys are refused without a read of the log. */
export const isBearerKey = (prefix: KeyPrefix, text: string): boolean =>
  KEY.test(text) &&
  text.startsWith(`${prefix}_`) &&
  checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);

/** The id in the name of the key's stream. A key has 178 random bits, so a fast hash cannot be reversed by guessing. */
export const keyId = (key: string): string => derivedId("key_", createHash("sha256").update(key).digest("hex"));
