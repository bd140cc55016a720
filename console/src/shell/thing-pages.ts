const PAGES: Readonly<Record<string, readonly [what: string, path: string]>> = {
  evt: ["event", "events"],
  apr: ["approval", "approvals"],
  bun: ["bundle", "bundles"],
  rpl: ["replay", "replays"],
  src: ["source", "sources"],
  end: ["endpoint", "endpoints"],
  agt: ["agent", "agents"],
  pol: ["policy", "policies"],
};

/** The page of the thing with an id, and what the thing is called; null if it has no page. */
export const pageOfId = (id: string): { readonly what: string; readonly href: string } | null => {
  const prefix = id.slice(0, 3);
  const found = id[3] === "_" && Object.hasOwn(PAGES, prefix) ? PAGES[prefix] : undefined;
  if (found === undefined) return null;
  const [what, path] = found;
  return { what, href: `/${path}/${encodeURIComponent(id)}` };
};
