import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadKey } from "../infra/crypto/keyfile.ts";
import { randomness } from "../infra/crypto/randomness.ts";

type KeyPlace = { readonly dataDir: string; readonly key: string | null };

/** Where an installation without COUNTERSIGN_KEY keeps its key. */
export const keyFileOf = ({ dataDir }: Pick<KeyPlace, "dataDir">): string => join(dataDir, "key");

/** The key that is there; null if none is. Throws `KeyUnusable`. */
export const presentKey = (place: KeyPlace): Uint8Array | null => {
  if (place.key !== null) return loadKey({ path: "", env: place.key }, randomness);
  const path = keyFileOf(place);
  return existsSync(path) ? loadKey({ path, mayCreate: false }, randomness) : null;
};
