import { agentPage, agentsPage } from "./agents-page.ts";
import type { Answered, Api } from "./api.ts";
import { approvalPage, approvalsPage } from "./approvals-page.ts";
import { bundlePage, bundlesPage } from "./bundles-page.ts";
import { endpointPage, endpointsPage } from "./endpoints-page.ts";
import { eventPage } from "./event-page.ts";
import { eventsPage } from "./events-page.ts";
import type { Page, Screen } from "./page.ts";
import type { Place } from "./place.ts";
import { replayPage, replaysPage } from "./replays-page.ts";
import { sourcePage, sourcesPage } from "./sources-page.ts";
import type { Tree } from "./tree.ts";

export type Loaded = {
  readonly isMoving: boolean;
  readonly fingerprint: string;
  show(screen: Screen): Tree;
};

export type Opened = { readonly title: string; load(api: Api, place: Place): Promise<Answered<Loaded>> };

const opened = <T>(page: Page<T>): Opened => ({
  title: page.title,
  async load(api, place) {
    const answer = await page.load(api, place);
    if (!answer.ok) return answer;
    const { body } = answer;
    const show = (screen: Screen): Tree => page.show(body, screen);
    return { ok: true, body: { isMoving: page.isMoving(body), fingerprint: JSON.stringify(body), show } };
  },
});

/** By the address's first segment: the page of the whole list, and the page of a single item. */
export const PAGES: Readonly<Record<string, { readonly list: Opened; readonly one: Opened }>> = {
  events: { list: opened(eventsPage), one: opened(eventPage) },
  approvals: { list: opened(approvalsPage), one: opened(approvalPage) },
  bundles: { list: opened(bundlesPage), one: opened(bundlePage) },
  agents: { list: opened(agentsPage), one: opened(agentPage) },
  endpoints: { list: opened(endpointsPage), one: opened(endpointPage) },
  sources: { list: opened(sourcesPage), one: opened(sourcePage) },
  replays: { list: opened(replaysPage), one: opened(replayPage) },
};

export const pageAt = ({ page, id }: Place): Opened | null => {
  const found = Object.hasOwn(PAGES, page) ? PAGES[page] : undefined;
  return found === undefined ? null : id === null ? found.list : found.one;
};
