import { LRUCache } from "lru-cache";
import type { SealedAt, SecretBox } from "../../infra/crypto/secret-box.ts";

const OPENED_MAX = 2_000;

const isSame = (a: SealedAt, b: SealedAt): boolean =>
  a.account === b.account && a.stream === b.stream && a.field === b.field;

/** Remembers each sealed text with its plain one, and the place for which it was opened: a box refuses any other. */
export const openedSecrets = (box: Pick<SecretBox, "open">): Pick<SecretBox, "open"> => {
  const opened = new LRUCache<string, { readonly at: SealedAt; readonly plain: string }>({ max: OPENED_MAX });
  return {
    open(sealed: string, at: SealedAt) {
      const known = opened.get(sealed);
      if (known !== undefined && isSame(known.at, at)) return known.plain;
      const plain = box.open(sealed, at);
      opened.set(sealed, { at, plain });
      return plain;
    },
  };
};
