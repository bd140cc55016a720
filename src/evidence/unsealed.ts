import { toBase64 } from "../../domain/evidence/bytes.ts";
import type { SealedRoot } from "../../domain/evidence/instance-events.ts";
import { rootOf } from "../../domain/evidence/merkle.ts";
import type { EvidenceReads, InstanceState } from "../../domain/ports/evidence-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";

/** What one seal takes: with some 100 bytes for each head, it is well below the size of the largest append. */
export const SEALED_HEADS_MAX = 4_000;

/** `instance` is read before the heads: an append at its revision conflicts if another node has sealed meanwhile. */
export type Unsealed = { readonly instance: InstanceState; readonly heads: readonly SealedRoot[] };

export const unsealedRoots = async (store: Pick<EvidenceReads, "instance" | "unsealed">): Promise<Unsealed> => {
  const instance = await store.instance();
  const heads = await store.unsealed(SEALED_HEADS_MAX);
  return {
    instance,
    heads: heads.map((head) => [head.account, head.size, toBase64(rootOf(sha256, head))] as const),
  };
};
