/** The root is base64, as in a checkpoint. */
export type SealedRoot = readonly [account: string, size: number, root: string];

/** Stream `checkpoint-instance`. Each key and each head is a leaf of the instance tree, in this order. */
export type InstanceEvent =
  | { readonly type: "Sealed"; readonly data: { readonly heads: readonly SealedRoot[] } }
  /** The log is signed with this key from here on; with a `previous` checkpoint, a new generation begins. */
  | {
      readonly type: "SigningKeyNamed";
      readonly data: {
        readonly vkey: string;
        readonly previous: string | null;
        readonly reason: string | null;
        /**
         * The signature lines of the key before it and of this key, under the checkpoint that ends with this leaf; of
         * this key alone if a new generation begins with it; null for the very first key.
         */
        readonly handover: string | null;
      };
    };

export const INSTANCE_STREAM = "checkpoint-instance";
