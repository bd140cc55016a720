import { earlyReads } from "./api/page-reads.ts";
import { HOME, placeOfUrl } from "./shell/addresses.ts";
import { firstReads } from "./shell/first-reads.ts";
import { loadPage, pageAt } from "./shell/pages.ts";

const ME = "/v1/auth/me";

/**
 * Runs before the other scripts have arrived: the page's own script and its first answers come meanwhile. What a role has
 * no right to is not asked for; the shell tells the role, "none" without a session that is accepted, as each read would be
 * refused, and "unknown" if the service cannot know it.
 */
const begin = async (): Promise<void> => {
  const place = placeOfUrl(new URL(location.pathname === "/" ? HOME : location.href, location.href));
  const found = pageAt(place);
  const role = document.querySelector('meta[name="session"]')?.getAttribute("content") ?? "unknown";
  if (found === null || role === "none") return;
  void earlyReads.begin(ME);
  const script = loadPage(found.row);
  const opened = { params: found.params, query: place.query, now: Date.now() };
  for (const address of firstReads(found.row.path, role, opened)) void earlyReads.begin(address);
  await script;
};

// Whatever fails here is asked for again by the page, which says what is wrong.
begin().catch(() => undefined);
