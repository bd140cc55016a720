import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { lengthPrefixed } from "./length-prefixed.ts";
import { subkey } from "./subkey.ts";

export type SealedAt = { readonly account: string; readonly stream: string; readonly field: string };

export type SecretBox = {
  readonly seal: (plain: string, at: SealedAt) => string;
  /** Throws `SealBroken` for another place, another key or any changed character. */
  readonly open: (sealed: string, at: SealedAt) => string;
};

export class SealBroken extends Error {
  override readonly name = "SealBroken";
}

const VERSION = 1;
/** GCM is made for 96 bits (NIST SP 800-38D, 5.2.1.1); random ones are safe up to 2^32 seals (8.3). */
const NONCE_BYTES = 12;
/** Node accepts shorter tags, and a 4-byte tag can be guessed (NIST SP 800-38D, appendix C). */
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;

/** AES-256-GCM; version and place are associated data. */
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
      // Node ignores invalid base64, so only the spelling of `seal` is accepted.
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
