import type streams from "@eventstore/db-client/generated/streams_pb.js";
import type { StoredRecord } from "./state.ts";

export type Filter = {
  readonly allows: (record: StoredRecord) => boolean;
  /** After so many events that were looked at a checkpoint is sent. */
  readonly checkpointEvery: number;
};

/** Enumerators.ReadBatchSize of the server. */
const SEARCH_WINDOW = 32;

/** Null for a call without a filter; a subscription has no checkpoints then either. */
export const filterOf = (options: streams.ReadReq.Options): Filter | null => {
  const filter = options.getFilter();
  if (filter === undefined) return null;
  const expression = filter.getStreamIdentifier() ?? filter.getEventType();
  const textOf = filter.hasStreamIdentifier()
    ? (record: StoredRecord) => record.stream
    : (record: StoredRecord) => record.type;
  const prefixes = expression?.getPrefixList() ?? [];
  const regex = new RegExp(expression?.getRegex() ?? "");
  const window = filter.hasMax() ? filter.getMax() : SEARCH_WINDOW;
  return {
    allows: (record) => {
      const text = textOf(record);
      return prefixes.length > 0 ? prefixes.some((prefix) => text.startsWith(prefix)) : regex.test(text);
    },
    checkpointEvery: window * Math.max(1, filter.getCheckpointintervalmultiplier()),
  };
};
