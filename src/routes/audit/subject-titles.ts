import { euros } from "../../../domain/approval/summary.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { type ApprovalDocument, approvals } from "../../../projections/approvals.ts";
import { type BundleDocument, bundles } from "../../../projections/bundles.ts";
import type { EventDocument } from "../../../projections/event-document.ts";
import { events } from "../../../projections/events.ts";
import { typedDocument } from "../../views/typed-documents.ts";

export type TitleDeps = { readonly views: Pick<ViewStore, "getMany"> };

type Titled = { readonly account: string; readonly title: string | null };

/** `refund.create, 12.40 EUR`; null without a name. */
const withCost = (name: string | null, micro: number | null): string | null =>
  name === null || micro === null ? name : `${name}, ${euros(micro)}`;

type Kind = {
  readonly view: string;
  readonly prefix: string;
  readonly titled: (document: Parameters<typeof typedDocument>[0]) => Titled;
};

const KINDS: readonly Kind[] = [
  {
    ...{ view: events.schema.name, prefix: "evt_" },
    titled(document) {
      const { account, type } = typedDocument<EventDocument>(document);
      return { account, title: type || null };
    },
  },
  {
    ...{ view: approvals.schema.name, prefix: "apr_" },
    titled(document) {
      const { account, action, summary, cost } = typedDocument<ApprovalDocument>(document);
      return { account, title: action === null ? summary : withCost(action, cost) };
    },
  },
  {
    ...{ view: bundles.schema.name, prefix: "bun_" },
    titled(document) {
      const { account, name, cost } = typedDocument<BundleDocument>(document);
      return { account, title: withCost(name, cost) };
    },
  },
];

/** What events, approvals and bundles are called, by their ids; those without a name are left out. */
export const titlesOf = async (
  { views }: TitleDeps,
  account: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const all = await Promise.all(
    KINDS.map(async ({ view, prefix, titled }) => {
      const asked = [...new Set(ids)].filter((id) => id.startsWith(prefix));
      const found = asked.length === 0 ? new Map() : await views.getMany(view, asked);
      return [...found].map(([id, document]) => ({ id, ...titled(document) }));
    }),
  );
  return new Map(
    all.flat().flatMap((it) => (it.account === account && it.title !== null ? [[it.id, it.title] as const] : [])),
  );
};
