import { dirname } from "node:path";
import { makeDirectory } from "../../infra/make-directory.ts";
import { WitnessState } from "./state.ts";
import { Witness, type WitnessOptions } from "./witness.ts";
import { type KeyOptions, witnessKey } from "./witness-key.ts";

export type OpenOptions = Pick<KeyOptions, "path" | "name" | "randomness"> &
  Pick<WitnessOptions, "logs" | "clock" | "onFork">;

export type OpenedWitness = { readonly witness: Witness; readonly vkey: string; close(): void };

/** `path` is the file of the state; the key is in the file beside it. */
export const openWitness = ({ path, name, randomness, ...options }: OpenOptions): OpenedWitness => {
  makeDirectory(dirname(path));
  const state = WitnessState.open(path);
  try {
    const { signer, vkey } = witnessKey({ path: `${path}.key`, name, state, randomness });
    return { witness: new Witness({ ...options, signer, state }), vkey, close: () => state.close() };
  } catch (error) {
    state.close();
    throw error;
  }
};
