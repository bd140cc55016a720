import type { Page as List, Rejection, Source } from "./answers.ts";
import type { Answered } from "./api.ts";
import { clock } from "./format.ts";
import type { Page, Screen } from "./page.ts";
import { article, badge, facts, idShown, link, linkTo, older, section, table } from "./parts.ts";
import { hrefOf } from "./place.ts";
import { h, type Tree } from "./tree.ts";

const pathOf = (id: string): string => `/v1/sources/${encodeURIComponent(id)}`;

const rowOf = (source: Source): readonly Tree[] => [
  badge(source.status),
  h("div", {}, link(hrefOf("sources", source.id), source.name), idShown(source.id)),
  source.type,
  linkTo("endpoints", source.endpoint_id),
  link(hrefOf("events", null, { source_id: source.id }), "Events"),
];

export const sourcesPage: Page<List<Source>> = {
  title: "Sources",
  load: (api, { query }) => api.get<List<Source>>("/v1/sources", { cursor: query.cursor }),
  show: ({ data, next_cursor }, screen) =>
    article(
      "Sources",
      table(
        ["Status", "Source", "Type", "Endpoint", ""],
        data.map(rowOf),
        "No sources yet. POST /v1/sources registers one.",
      ),
      older("sources", null, screen.place.query, next_cursor),
    ),
  isMoving: () => false,
};

const MEANINGS: Readonly<Record<string, string>> = {
  missing: "no signature at all",
  malformed: "a signature that cannot be read",
  mismatch: "a signature with another secret, or over another body",
  stale: "signed too long ago, or in the future",
  "unknown-secret": "a secret that is not known",
};

const meaningOf = (reason: string): string => (Object.hasOwn(MEANINGS, reason) ? String(MEANINGS[reason]) : reason);

type Shown = { readonly source: Source; readonly rejections: List<Rejection> };

const rejectionRow = ({ minute, reason, count, sample }: Rejection): readonly Tree[] => [
  clock(minute).slice(0, 16),
  h("div", {}, reason, h("small", {}, meaningOf(reason))),
  String(count),
  h("code", {}, sample?.ip ?? "–"),
  sample?.user_agent ?? "–",
];

const both = (source: Answered<Source>, rejections: Answered<List<Rejection>>): Answered<Shown> => {
  if (!source.ok) return source;
  return rejections.ok ? { ok: true, body: { source: source.body, rejections: rejections.body } } : rejections;
};

const sourceShown = ({ source, rejections }: Shown, { place }: Screen): Tree =>
  article(
    [badge(source.status), " ", source.name],
    h("p", {}, h("code", {}, source.id)),
    facts([
      ["Type", source.type],
      ["Address for the sender", h("code", {}, source.ingest_url)],
      ["Endpoint", linkTo("endpoints", source.endpoint_id)],
      ["Policy", source.policy_id ?? "none"],
    ]),
    h("p", {}, link(hrefOf("events", null, { source_id: source.id }), "Its events")),
    section(
      "Refused signatures",
      table(
        ["Minute (UTC)", "Reason", "How many", "First from", "Its user agent"],
        rejections.data.map(rejectionRow),
        "None.",
      ),
      older("sources", source.id, place.query, rejections.next_cursor),
    ),
  );

export const sourcePage: Page<Shown> = {
  title: "Source",
  async load(api, { id, query }) {
    const path = pathOf(id ?? "");
    return both(
      await api.get<Source>(path),
      await api.get<List<Rejection>>(`${path}/rejections`, { cursor: query.cursor }),
    );
  },
  show: sourceShown,
  isMoving: () => false,
};
