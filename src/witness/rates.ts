import { LRUCache } from "lru-cache";

type Bucket = { tokens: number; at: number };

/** Addresses that are remembered. A flood from more of them is limited by the number of connections alone. */
const ADDRESSES_MAX = 10_000;

/** True while an address has asked for at most `burst` calls at once, and `perSecond` in the long run. */
export const callRates = (burst: number, perSecond: number, now: () => number): ((address: string) => boolean) => {
  const buckets = new LRUCache<string, Bucket>({ max: ADDRESSES_MAX });
  return (address) => {
    const bucket = buckets.get(address) ?? { tokens: burst, at: now() };
    const at = now();
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, at - bucket.at) / 1_000) * perSecond);
    bucket.at = at;
    buckets.set(address, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  };
};
