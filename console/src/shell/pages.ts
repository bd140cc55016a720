import type { ComponentType } from "preact";
import { matched, type Place, pageOf } from "./addresses.ts";
import type { PageProps } from "./page-props.ts";

type Loaded = { readonly default: ComponentType<PageProps> };

type PageRow = {
  readonly path: string;
  readonly title: string;
  /** The item of the sidebar that it belongs to. */
  readonly section: string;
  readonly load: () => Promise<Loaded>;
};

/** The pages, each with a chunk of its own. A page that is not built yet is not here, and is not in the sidebar. */
const PAGES: readonly PageRow[] = [
  { path: "/overview", title: "Overview", section: "overview", load: () => import("../pages/overview.tsx") },
  { path: "/events", title: "Events", section: "events", load: () => import("../pages/events.tsx") },
  { path: "/events/{id}", title: "Event", section: "events", load: () => import("../pages/event.tsx") },
  { path: "/approvals", title: "Approvals", section: "approvals", load: () => import("../pages/approvals.tsx") },
  { path: "/approvals/{id}", title: "Approval", section: "approvals", load: () => import("../pages/approvals.tsx") },
  { path: "/bundles", title: "Bundles", section: "bundles", load: () => import("../pages/bundles.tsx") },
  { path: "/bundles/{id}", title: "Bundle", section: "bundles", load: () => import("../pages/bundle.tsx") },
  { path: "/replays", title: "Replays", section: "replays", load: () => import("../pages/replays.tsx") },
  { path: "/replays/{id}", title: "Replay", section: "replays", load: () => import("../pages/replay.tsx") },
  { path: "/sources", title: "Sources", section: "sources", load: () => import("../pages/sources.tsx") },
  {
    path: "/sources/new",
    title: "Set up a source",
    section: "sources",
    load: () => import("../pages/source-setup.tsx"),
  },
  { path: "/sources/{id}", title: "Source", section: "sources", load: () => import("../pages/source.tsx") },
  { path: "/endpoints", title: "Endpoints", section: "endpoints", load: () => import("../pages/endpoints.tsx") },
  {
    path: "/endpoints/new",
    title: "New endpoint",
    section: "endpoints",
    load: () => import("../pages/endpoint-new.tsx"),
  },
  { path: "/endpoints/{id}", title: "Endpoint", section: "endpoints", load: () => import("../pages/endpoint.tsx") },
  { path: "/agents", title: "Agents", section: "agents", load: () => import("../pages/agents.tsx") },
  { path: "/agents/new", title: "New agent", section: "agents", load: () => import("../pages/agent-new.tsx") },
  { path: "/agents/{id}", title: "Agent", section: "agents", load: () => import("../pages/agent.tsx") },
  { path: "/agents/actions/{name}", title: "Action", section: "agents", load: () => import("../pages/action.tsx") },
  { path: "/policies", title: "Policies", section: "policies", load: () => import("../pages/policies.tsx") },
  { path: "/policies/new", title: "New policy", section: "policies", load: () => import("../pages/policy-new.tsx") },
  { path: "/policies/{id}", title: "Policy", section: "policies", load: () => import("../pages/policy.tsx") },
  { path: "/audit", title: "Audit", section: "audit", load: () => import("../pages/audit.tsx") },
  { path: "/audit/{index}", title: "Record", section: "audit", load: () => import("../pages/audit.tsx") },
  { path: "/usage", title: "Usage", section: "usage", load: () => import("../pages/usage.tsx") },
  { path: "/settings", title: "Settings", section: "settings", load: () => import("../pages/settings.tsx") },
  {
    path: "/settings/members",
    title: "Members",
    section: "settings",
    load: () => import("../pages/settings-members.tsx"),
  },
  {
    path: "/settings/keys",
    title: "API keys",
    section: "settings",
    load: () => import("../pages/settings-keys.tsx"),
  },
  {
    path: "/settings/sessions",
    title: "Password and sessions",
    section: "settings",
    load: () => import("../pages/settings-sessions.tsx"),
  },
  {
    path: "/settings/preferences",
    title: "Preferences",
    section: "settings",
    load: () => import("../pages/settings-preferences.tsx"),
  },
  {
    path: "/settings/account",
    title: "Account",
    section: "settings",
    load: () => import("../pages/settings-account.tsx"),
  },
  {
    path: "/device",
    title: "Sign in a command line",
    section: "settings",
    load: () => import("../pages/device.tsx"),
  },
  {
    path: "/settings/privacy",
    title: "Privacy",
    section: "settings",
    load: () => import("../pages/settings-privacy.tsx"),
  },
];

const loadedPages = new Map<string, Loaded>();

export const loadPage = async ({ path, load }: Pick<PageRow, "path" | "load">): Promise<Loaded> => {
  const loaded = await load();
  loadedPages.set(pageOf(path), loaded);
  return loaded;
};

/** The page of a path, if its script is there: then it is drawn with the frame, and not after it. */
export const loadedPage = (path: string): Loaded["default"] | null => loadedPages.get(pageOf(path))?.default ?? null;

export type FoundPage = { readonly row: PageRow; readonly params: Readonly<Record<string, string>> };

export const pageAt = ({ path }: Place): FoundPage | null => {
  for (const row of PAGES) {
    const params = matched(row.path, path);
    if (params !== null) return { row, params };
  }
  return null;
};

export type NavItem = { readonly section: string; readonly title: string; readonly key: string };
export type NavGroup = { readonly heading: string | null; readonly items: readonly NavItem[] };

const item = (section: string, title: string, key: string): NavItem => ({ section, title, key });

const GROUPS: readonly NavGroup[] = [
  { heading: null, items: [item("overview", "Overview", "o"), item("approvals", "Approvals", "a")] },
  {
    heading: "Watch",
    items: [item("events", "Events", "e"), item("bundles", "Bundles", "b"), item("replays", "Replays", "r")],
  },
  {
    heading: "Connect",
    items: [
      item("sources", "Sources", "s"),
      item("endpoints", "Endpoints", "d"),
      item("agents", "Agents", "t"),
      item("policies", "Policies", "p"),
    ],
  },
  { heading: "Prove", items: [item("audit", "Audit", "u")] },
  { heading: "Account", items: [item("usage", "Usage", "m"), item("settings", "Settings", ",")] },
];

const isBuilt = ({ section }: NavItem): boolean => PAGES.some(({ path }) => path === `/${section}`);

/** The sidebar's groups, with the pages that are built. */
export const navGroups = (): readonly NavGroup[] =>
  GROUPS.map(({ heading, items }) => ({ heading, items: items.filter(isBuilt) })).filter(
    ({ items }) => items.length > 0,
  );
