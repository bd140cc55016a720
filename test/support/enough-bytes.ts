import type { ByteAllowances } from "../../src/ledgers/byte-allowances.ts";

/** For worlds in which no account runs out of bytes: they append nothing for it. */
export const enoughBytes: ByteAllowances = {
  take: async () => ({ giveBack: () => undefined }),
  hasRoom: async () => true,
  takeAtHand: () => ({ giveBack: () => undefined }),
};
