/** AES-256-GCM, base64 (`infra/crypto/secret-box.ts`). */
export type Sealed = string;
