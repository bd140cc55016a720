import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { derivedId } from "./ids.ts";

/** `csk` is an account's key, `csa` an agent's; secret scanners recognise the prefix. */
export type KeyPrefix = "csk" | "csa";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BODY_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const BODY_SPACE = 62n ** BigInt(BODY_LENGTH);
/** The secret has enough more bits than the body that the remainder favours no key. */
const SECRET_BYTES_MIN = 32;
const KEY = /^(csk|csa)_[0-9A-Za-z]{36}$/;

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

/** The checksum refuses mistyped or invented keys without a read. */
export const isBearerKey = (prefix: KeyPrefix, text: string): boolean =>
  KEY.test(text) &&
  text.startsWith(`${prefix}_`) &&
  checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);

/** A presented key finds its stream by this id. 178 random bits need no slow hash. */
export const keyId = (key: string): string => derivedId("key_", createHash("sha256").update(key).digest("hex"));
