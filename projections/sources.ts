import type { DedupeRule, HmacAuth, ProviderType, SourceEvent, SourceSettings } from "../domain/source/events.ts";
import { eventOf, perDocument } from "./projection.ts";

export type SourceDocument = SourceSettings & {
  readonly account: string;
  readonly type: ProviderType;
  readonly auth: HmacAuth | null;
  readonly dedupe: DedupeRule | null;
  readonly created_at: string;
};

type Shown = Extract<SourceEvent, { type: "SourceRegistered" | "SourceChanged" | "SourceDeleted" }>;
const SHOWN: ReadonlySet<string> = new Set<Shown["type"]>(["SourceRegistered", "SourceChanged", "SourceDeleted"]);

/** A deleted source has no document; the audit log still shows it. */
export const sources = perDocument<SourceDocument>(
  {
    name: "sources.v1",
    fields: { account: "text", created_at: "text" },
    indexes: [["account", "created_at"]],
  },
  ({ type, data }) => (SHOWN.has(type) ? String(data.source_id) : null),
  (document, recorded) => {
    const event = eventOf<Shown>(recorded);
    switch (event.type) {
      case "SourceRegistered": {
        const { account, type, name, policy_id, endpoint_id, status, auth, dedupe, at } = event.data;
        return { account, type, name, policy_id, endpoint_id, status, auth, dedupe, created_at: at };
      }
      case "SourceChanged":
        return document === null ? null : { ...document, ...event.data.changes };
      case "SourceDeleted":
        return null;
    }
  },
);
