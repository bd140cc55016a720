/** The repeat of an older id is found when its append conflicts. */
const RECENT_MAX = 50_000;

type RecentIds = { has(id: string): boolean; add(id: string): void };

export const recentIds = (): RecentIds => {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id);
      if (ids.size <= RECENT_MAX) return;
      const [oldest] = ids;
      if (oldest !== undefined) ids.delete(oldest);
    },
  };
};
