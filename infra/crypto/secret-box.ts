import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { lengthPrefixed } from "./length-prefixed.ts";
import { subkey } from "./subkey.ts";

export type SealedAt = { readonly account: string; readonly stream: string; readonly field: string };

export type SecretBox = {
  readonly seal: (plain: string, at: SealedAt) => string;
  /** Throws `SealBroken` if the value was sealed for another place or with another key, or was changed since. */
  readonly open: (sealed: string, at: SealedAt) => string;
};

export class SealBroken extends Error {
  override readonly name = "SealBroken";
}

const VERSION = 1;
/** GCM is made for nonces of 96 bits (NIST SP 800-38D, 5.2.1.1); random ones are safe for 2^32 seals (8.3). */
const NONCE_BYTES = 12;
/** Without this length Node would accept a tag of 4 bytes, which can be guessed (NIST SP 800-38D, appendix C). */
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;

/** AES-256-GCM with version and place as associated data, so a value that was moved to another place does not open. */
export const secretBox = (key: Uint8Array, randomness: Randomness): SecretBox => {
  const boxKey = subkey(key, "secret-box");
  const placed = ({ account, stream, field }: SealedAt): Buffer =>
    lengthPrefixed([`v${VERSION}`, account, stream, field]);

  return {
    seal(plain, at) {
      const nonce = randomness.bytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", boxKey, nonce, { authTagLength: TAG_BYTES }).setAAD(placed(at));
      const sealed = [Uint8Array.of(VERSION), nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(sealed).toString("base64");
    },

    open(sealed, at) {
      const bytes = Buffer.from(sealed, "base64");
      // Node skips characters that are not base64, so a text that `seal` would spell differently is refused.
      if (bytes.toString("base64") !== sealed) throw new SealBroken("the sealed value is not canonical base64");
      if (bytes.length < HEAD_BYTES + TAG_BYTES) throw new SealBroken("the sealed value is too short");
      if (bytes[0] !== VERSION) throw new SealBroken(`the sealed value has the unknown version ${bytes[0]}`);
      const decipher = createDecipheriv("aes-256-gcm", boxKey, bytes.subarray(1, HEAD_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(placed(at))
        .setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
      try {
        const plain = decipher.update(bytes.subarray(HEAD_BYTES, bytes.length - TAG_BYTES));
        return Buffer.concat([plain, decipher.final()]).toString("utf8");
      } catch {
        throw new SealBroken(`the sealed value does not open as ${at.field} of ${at.stream}`);
      }
    },
  };
};
