import { LRUCache } from "lru-cache";
import type { SealedAt, SecretBox } from "../../infra/crypto/secret-box.ts";

const OPENED_MAX = 2_000;

export const openedSecrets = (box: Pick<SecretBox, "open">): Pick<SecretBox, "open"> => {
  const opened = new LRUCache<string, string>({ max: OPENED_MAX });
  return {
    open(sealed: string, at: SealedAt) {
      const place = `${at.account}/${at.stream}/${at.field}/${sealed}`;
      const known = opened.get(place);
      if (known !== undefined) return known;
      const plain = box.open(sealed, at);
      opened.set(place, plain);
      return plain;
    },
  };
};
