import type { Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Document } from "../../domain/ports/view-store.ts";
import { actions } from "../../projections/actions.ts";
import { agents } from "../../projections/agents.ts";
import { approvals } from "../../projections/approvals.ts";
import { bundles } from "../../projections/bundles.ts";
import { type EndpointDocument, endpoints } from "../../projections/endpoints.ts";
import { events } from "../../projections/events.ts";
import { members } from "../../projections/members.ts";
import { policies } from "../../projections/policies.ts";
import { replays } from "../../projections/replays.ts";
import { sources } from "../../projections/sources.ts";
import { categoryOf, subjectOf } from "../../projections/streams.ts";
import { typedDocument } from "../views/typed-documents.ts";

export const TOPICS = [
  "events",
  "approvals",
  "bundles",
  "replays",
  "sources",
  "endpoints",
  "agents",
  "actions",
  "policies",
  "account",
] as const;
export type Topic = (typeof TOPICS)[number];

/** Something that a list of the API shows has changed. */
export type Change = { readonly topic: Topic; readonly id: string; readonly position: Position };

const CATEGORIES: Readonly<Record<string, Topic>> = {
  delivery: "events",
  approval: "approvals",
  bundle: "bundles",
  replay: "replays",
  source: "sources",
  endpoint: "endpoints",
  agent: "agents",
  action: "actions",
  policy: "policies",
  account: "account",
};

export const VIEW_OF: Readonly<Record<Topic, string>> = {
  events: events.schema.name,
  approvals: approvals.schema.name,
  bundles: bundles.schema.name,
  replays: replays.schema.name,
  sources: sources.schema.name,
  endpoints: endpoints.schema.name,
  agents: agents.schema.name,
  actions: actions.schema.name,
  policies: policies.schema.name,
  // The account itself has no view; of its records, members are what lists show.
  account: members.schema.name,
};

/** A record of an event that is part of a replay changes the replay's counts. */
const replayChanges = (record: RecordedEvent): readonly Change[] =>
  replays.idsOf(record).map((id) => ({ topic: "replays", id, position: record.position }));

/** Empty if no list shows the record. A record of a hold or of a held change also changes its approval. */
export const changesOf = (record: RecordedEvent): readonly Change[] => {
  const { stream, position, data } = record;
  const category = categoryOf(stream);
  // `hasOwn`, because a category may be called "constructor", which every object has.
  const topic = Object.hasOwn(CATEGORIES, category) ? CATEGORIES[category] : undefined;
  const changed = topic === undefined ? [] : [{ topic, id: subjectOf(stream), position }];
  const own = topic === "events" ? [...changed, ...replayChanges(record)] : changed;
  const { approval_id: approval } = data;
  return typeof approval === "string" && topic !== "approvals"
    ? [...own, { topic: "approvals", id: approval, position }]
    : own;
};

/** What the API shows under this id, as it is now; a status is null where the thing has none, or is gone. */
export const shownAs = (topic: Topic, id: string, document: Document | undefined) => {
  if (document === undefined) return { id, status: null };
  if (topic === "endpoints") {
    const { disabled, circuit } = typedDocument<EndpointDocument>(document);
    return { id, status: disabled === null ? circuit.state : "disabled" };
  }
  const { status = null, name } = document;
  // Actions have their names in the API, and no ids.
  return { id: topic === "actions" && typeof name === "string" ? name : id, status };
};
