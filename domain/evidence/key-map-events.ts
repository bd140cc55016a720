import type { JsonObject } from "../json.ts";

/** Stream `keymap-<account>`: the root, in hex, of the key map of the account's first `size` records. */
export type KeyMapEvent = {
  readonly type: "KeyMapSealed";
  readonly data: { readonly root: string; readonly size: number };
};

export const keyMapStream = (account: string): string => `keymap-${account}`;

const ROOT = /^[0-9a-f]{64}$/;

/** Null if the data is not that of a `KeyMapSealed`. */
export const readKeyMapSealed = ({ root, size }: JsonObject): KeyMapEvent["data"] | null =>
  typeof root === "string" && ROOT.test(root) && Number.isSafeInteger(size) && Number(size) >= 0
    ? { root, size: Number(size) }
    : null;
