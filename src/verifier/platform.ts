import { fromBase64 } from "../../domain/evidence/bytes.ts";
import type { Sha256 } from "../../domain/evidence/merkle.ts";
import type { VerifyEd25519 } from "../../domain/evidence/signed-note.ts";
import { sha256 } from "./sha256.ts";

/** What the verifier needs of the machine. */
export type Platform = {
  readonly sha256: Sha256;
  readonly verifyEd25519: VerifyEd25519;
  /** Null unless the text is base64 with padding in its one form. */
  readonly fromBase64: (text: string) => Uint8Array | null;
};

/** The parts of node:crypto and of Buffer that are used, because this library is compiled without Node's types. */
type NodeCrypto = {
  createHash(name: string): { update(bytes: Uint8Array): { digest(): Uint8Array } };
  hash?(name: string, bytes: Uint8Array, encoding: "buffer"): Uint8Array;
  createPublicKey(key: { key: Uint8Array; format: "der"; type: "spki" }): unknown;
  verify(algorithm: null, message: Uint8Array, key: unknown, signature: Uint8Array): boolean;
};
type NodeBuffer = { from(text: string, encoding: "base64"): Uint8Array & { toString(encoding: "base64"): string } };
type NodeGlobals = {
  readonly process?: { getBuiltinModule?(name: string): unknown };
  readonly Buffer?: NodeBuffer;
};

/** Node takes an Ed25519 key in DER alone: this beginning (RFC 8410, section 4), then the 32 bytes. */
const SPKI_BEGINNING = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);

const nodePlatform = (crypto: NodeCrypto, buffer: NodeBuffer): Platform => ({
  sha256: (bytes) => crypto.hash?.("sha256", bytes, "buffer") ?? crypto.createHash("sha256").update(bytes).digest(),
  verifyEd25519(publicKey, message, signature) {
    const der = new Uint8Array([...SPKI_BEGINNING, ...publicKey]);
    const key = crypto.createPublicKey({ key: der, format: "der", type: "spki" });
    return crypto.verify(null, message, key, signature);
  },
  // Node skips whatever is not base64, so the text is compared with what its bytes are written as.
  fromBase64(text) {
    const bytes = buffer.from(text, "base64");
    return bytes.toString("base64") === text ? bytes : null;
  },
});

const webPlatform: Platform = {
  sha256,
  async verifyEd25519(publicKey, message, signature) {
    const { subtle } = globalThis.crypto;
    // The bytes are copied, because WebCrypto takes no view of shared memory.
    const key = await subtle.importKey("raw", Uint8Array.from(publicKey), "Ed25519", false, ["verify"]);
    return subtle.verify("Ed25519", key, Uint8Array.from(signature), Uint8Array.from(message));
  },
  fromBase64,
};

/** That of Node where there is one, else that of a browser: WebCrypto with Ed25519. */
export const platformHere = (): Platform => {
  const { process, Buffer: buffer } = globalThis as NodeGlobals;
  const crypto = process?.getBuiltinModule?.("node:crypto");
  return crypto === undefined || buffer === undefined ? webPlatform : nodePlatform(crypto as NodeCrypto, buffer); // As the name says.
};
