import { setTimeout as sleep } from "node:timers/promises";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { type AuditHead, audit } from "../../projections/audit.ts";
import { type WakeablePause, wakeablePause } from "../following/wakeable-pause.ts";
import type { ViewProgress } from "../views/view-progress.ts";

export type FollowedCount = {
  count(): number;
  changed(ms: number): Promise<unknown>;
  wake(): void;
  end(): void;
};

export type RecordCounts = { follow(account: string, count: number): FollowedCount };

/** The view is also read this often, because a projector in another process reports no progress. */
const POLL_MS = 1_000;
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
      // The view's document of an account has the account's id. Its count is too low while the view is rebuilt.
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
      if (followers.size === 0) break;
      await look().catch((error: unknown) => {
        // A server that stops ends its streams before it closes the views, so without followers this is no failure.
        if (followers.size > 0) onError(error);
      });
    }
    silence();
    isLooking = false;
  };

  return {
    follow(account, count) {
      const follower: Follower = { account, count, rest: wakeablePause() };
      followers.add(follower);
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
