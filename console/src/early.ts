import { earlyReads } from "./api/page-reads.ts";
import { hasRight } from "./api/roles.ts";
import { HOME, placeOfUrl } from "./shell/addresses.ts";
import { firstReads } from "./shell/first-reads.ts";
import { loadPage, pageAt } from "./shell/pages.ts";

const ME = "/v1/auth/me";

const roleOf = async (answer: Response): Promise<string> => {
  // As the API describes it.
  const { member } = (await answer.clone().json()) as { readonly member: { readonly role: string } };
  return member.role;
};

/** The role of the session, as the shell tells it; null if the service does not know, and "none" without a session. */
const toldRole = (): string | null => {
  const told = document.querySelector('meta[name="session"]')?.getAttribute("content") ?? null;
  return told === "unknown" ? null : told;
};

/**
 * Runs before the other scripts have arrived: the page's own script and its first answers come meanwhile. What a role has
 * no right to is not asked for. Without a session that is accepted, nothing is asked for here: each read would be refused.
 */
const begin = async (): Promise<void> => {
  const place = placeOfUrl(new URL(location.pathname === "/" ? HOME : location.href, location.href));
  const found = pageAt(place);
  const told = toldRole();
  if (found === null || told === "none") return;
  const me = earlyReads.begin(ME);
  const script = loadPage(found.row);
  const reads = firstReads(found.row.path, { params: found.params, query: place.query, now: Date.now() });
  const beginFor = (role: string | null): void => {
    for (const { address, right } of reads)
      if (right === null || (role !== null && hasRight(role, right))) void earlyReads.begin(address);
  };
  beginFor(told);
  const answer = await me;
  if (told === null && answer?.ok) beginFor(await roleOf(answer));
  await script;
};

// Whatever fails here is asked for again by the page, which says what is wrong.
begin().catch(() => undefined);
