import type { Api } from "./api.ts";

type Page<T> = { readonly data: readonly T[]; readonly next_cursor: string | null };

const PAGE_MAX = 100;

/** All items of a list, page after page. */
export const allPages = async <T>(api: Api, path: string): Promise<readonly T[]> => {
  const found: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const page: Page<T> = await api.get(path, { limit: PAGE_MAX, cursor });
    found.push(...page.data);
    if (page.next_cursor === null) return found;
    cursor = page.next_cursor;
  }
};
