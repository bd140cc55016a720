import { type Message, message } from "./message.ts";

/** Of the API. Pure, so that the tests say the same. */
type Reason = "missing" | "malformed" | "mismatch" | "stale" | "unknown-secret";
type Refused = {
  /** What is wrong with the signature, after "it" or "the signature". */
  readonly why: string;
  readonly todo: string;
};

/** Why a request's signature was refused, and what to do. */
export const REFUSALS: Readonly<Record<Reason, Refused>> = {
  missing: {
    why: "is missing",
    todo: "Set the secret at the provider, so that it signs what it sends.",
  },
  malformed: {
    why: "cannot be read",
    todo: "Compare the header and the encoding of the signature with those of this source.",
  },
  mismatch: {
    why: "matches none of this source's secrets",
    todo: "Copy the secret again from the provider's page for this address.",
  },
  stale: {
    why: "is too old or too new",
    todo: "Compare the clocks, or let the provider send it again.",
  },
  "unknown-secret": {
    why: "names a secret that this source does not have",
    todo: "Copy the secret again from the provider's page for this address.",
  },
};

/** The same in sentences. */
export const signatureRefusal = (reason: Reason): Message => {
  const { why, todo } = REFUSALS[reason];
  return message("Signature refused.", `It ${why}. ${todo}`);
};
