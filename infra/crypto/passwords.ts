import { hash, verify } from "@node-rs/argon2";
import { boundedQueue } from "../bounded-queue.ts";

/** argon2id (the package's default algorithm) with the first parameters of the OWASP Password Storage Cheat Sheet:
 * 19 MiB, two passes, one lane; some 20 ms. */
export const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Of the four threads that Node shares for files, DNS and hashing: a storm of logins leaves the other two. */
const AT_ONCE = 2;
/** About a second of waiting. Whoever comes then is told to come again. */
const WAITING_MAX = 64;

/** Has the form and the parameters of a real hash and is the hash of no password that anyone will find: checking
 * against it takes the time that a wrong password takes. */
export const DECOY_HASH =
  `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=${ARGON2.parallelism}` +
  `$${"A".repeat(22)}$${"A".repeat(43)}`;

export type Passwords = {
  /** A PHC string with its own random salt. */
  hash(password: string): Promise<{ readonly hash: string } | "overloaded">;
  /** Null for an account that does not exist: always wrong, in the same time. */
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
