import { setTimeout as sleep } from "node:timers/promises";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { type AuditHead, audit } from "../../projections/audit.ts";
import { type WakeablePause, wakeablePause } from "../following/wakeable-pause.ts";
import type { ViewProgress } from "../views/view-progress.ts";

export type FollowedCount = {
  /** How many records the account has, as of the last look. */
  count(): number;
  /** Resolves when there are more, when somebody calls `wake`, or after `ms`. */
  changed(ms: number): Promise<unknown>;
  wake(): void;
  end(): void;
};

/** Follows how many records accounts have: one look for all who follow, so that an idle stream costs next to nothing. */
export type RecordCounts = { follow(account: string, count: number): FollowedCount };

/** Progress of a projector in another process is not told. */
const POLL_MS = 1_000;
/** From the progress to the look: under load the projector moves many times a second. */
const GATHER_MS = 50;

const VIEW = audit.schema.name;

type Follower = { readonly account: string; readonly rest: WakeablePause; count: number };

export const recordCounts = (
  views: Pick<ViewStore, "getMany">,
  progress: Pick<ViewProgress, "onProgress">,
  onError: (error: unknown) => void,
): RecordCounts => {
  const followers = new Set<Follower>();
  const rest = wakeablePause();
  let isLooking = false;

  const look = async (): Promise<void> => {
    const accounts = new Set([...followers].map(({ account }) => account));
    const heads = await views.getMany(VIEW, [...accounts]);
    for (const follower of followers) {
      // Written by the projection under the account's id. Lower than before while the view is folded anew.
      const { count } = (heads.get(follower.account) as AuditHead | undefined) ?? { count: 0 };
      const isMore = count > follower.count;
      follower.count = count;
      if (isMore) follower.rest.wake();
    }
  };

  const keepLooking = async (): Promise<void> => {
    isLooking = true;
    const silence = progress.onProgress((reached) => {
      if (reached.some(({ view }) => view === VIEW)) rest.wake();
    });
    while (followers.size > 0) {
      if (await rest.pause(POLL_MS)) await sleep(GATHER_MS);
      await look().catch(onError);
    }
    silence();
    isLooking = false;
  };

  return {
    follow(account, count) {
      const follower: Follower = { account, count, rest: wakeablePause() };
      followers.add(follower);
      // What came since the caller has counted is seen at once.
      rest.wake();
      if (!isLooking) void keepLooking();
      return {
        count: () => follower.count,
        changed: follower.rest.pause,
        wake: follower.rest.wake,
        end() {
          followers.delete(follower);
          rest.wake();
        },
      };
    },
  };
};
