import { joined, uint64, utf8 } from "./bytes.ts";
import {
  ED25519_COSIGNATURE,
  ED25519_SIGNATURE_BYTES,
  type NoteSignature,
  type SignEd25519,
  type SignedNote,
  type SignerKey,
  signaturesBy,
  type VerifierKey,
  type VerifyEd25519,
} from "./signed-note.ts";

/** C2SP tlog-cosignature v1.0.1, of the type Ed25519. */

const TIME_BYTES = 8;

/** What a witness signs: that at this time (POSIX, in seconds) it knew no larger tree of the origin. */
export const cosignatureMessage = (time: number, checkpointText: string): Uint8Array =>
  utf8(`cosignature/v1\ntime ${time}\n${checkpointText}`);

type TimedSignature = { readonly time: number; readonly signature: Uint8Array };

/** Null if the bytes are not a time and an Ed25519 signature. */
export const parseTimedSignature = (bytes: Uint8Array): TimedSignature | null => {
  if (bytes.length !== TIME_BYTES + ED25519_SIGNATURE_BYTES) return null;
  const time = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
  return time > Number.MAX_SAFE_INTEGER ? null : { time: Number(time), signature: bytes.slice(TIME_BYTES) };
};

export const cosignatureOf = (
  sign: SignEd25519,
  checkpointText: string,
  { name, keyId, seed }: SignerKey,
  time: number,
): NoteSignature => ({
  name,
  keyId,
  signature: joined(uint64(time), sign(seed, cosignatureMessage(time, checkpointText))),
});

/** The earliest time at which the witness cosigned the note; `absent` and `wrong` as for a signature of the log. */
export const cosignedBy = async (
  verify: VerifyEd25519,
  note: SignedNote,
  key: VerifierKey,
): Promise<{ readonly time: number } | "absent" | "wrong"> => {
  if (key.type !== ED25519_COSIGNATURE) return "absent";
  let earliest: number | null = null;
  for (const { signature } of signaturesBy(note, key)) {
    const timed = parseTimedSignature(signature);
    if (timed === null) return "wrong";
    if (!(await verify(key.publicKey, cosignatureMessage(timed.time, note.text), timed.signature))) return "wrong";
    earliest = Math.min(earliest ?? timed.time, timed.time);
  }
  return earliest === null ? "absent" : { time: earliest };
};
