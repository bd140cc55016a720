import { hash, verify } from "@node-rs/argon2";
import { boundedQueue } from "../bounded-queue.ts";

/** Parameters from the OWASP Password Storage Cheat Sheet; the memory is in KiB. A hash takes some 20 ms. */
export const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Hashes made at once. Node has four threads for files, DNS and hashing, and many logins leave two of them free. */
const AT_ONCE = 2;
const WAITING_MAX = 64;

/** No password matches this hash, and checking against it takes as long as against a real one. */
export const DECOY_HASH =
  `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=${ARGON2.parallelism}` +
  `$${"A".repeat(22)}$${"A".repeat(43)}`;

export type Passwords = {
  hash(password: string): Promise<{ readonly hash: string } | "overloaded">;
  /** A null hash stands for an unknown account: the answer is "wrong", after as much time as a real hash takes. */
  verify(hash: string | null, password: string): Promise<"right" | "wrong" | "overloaded">;
};

export const passwords = ({ atOnce = AT_ONCE, waitingMax = WAITING_MAX } = {}): Passwords => {
  const queue = boundedQueue({ atOnce, waitingMax });
  return {
    async hash(password) {
      const hashing = queue.run(() => hash(password, ARGON2));
      return hashing === null ? "overloaded" : { hash: await hashing };
    },
    async verify(stored, password) {
      const verifying = queue.run(() => verify(stored ?? DECOY_HASH, password));
      if (verifying === null) return "overloaded";
      return (await verifying) && stored !== null ? "right" : "wrong";
    },
  };
};
