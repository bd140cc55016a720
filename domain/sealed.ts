/** A text encrypted with AES-256-GCM, in base64 (`infra/crypto/secret-box.ts`). */
export type Sealed = string;
