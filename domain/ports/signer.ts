/** Signs checkpoints of the log and nothing else. A key service can take the place of a key in a file. */
export type Signer = {
  /** The public key, as C2SP signed-note writes it. */
  readonly vkey: string;
  sign(message: Uint8Array): Promise<Uint8Array>;
};
