import type { Metadata, RecordedEvent } from "../../domain/ports/event-log.ts";
import { damaged } from "../damaged-event.ts";
import { ERASABLE_CATEGORIES } from "../stream-name.ts";
import type { StoredEvent } from "./connection.ts";
import { positionOf } from "./positions.ts";

const isSystem = ({ stream, type }: StoredEvent): boolean => stream.startsWith("$") || type.startsWith("$");

const ERASABLE_PREFIXES = ERASABLE_CATEGORIES.map((category) => `${category}-`);

export const isErasableStream = ({ stream }: { readonly stream: string }): boolean =>
  ERASABLE_PREFIXES.some((prefix) => stream.startsWith(prefix));

export const recorded = (event: StoredEvent): RecordedEvent | null => {
  const { id, type, stream, revision, at, data, meta } = event;
  if (isSystem(event)) return null;
  if (event.isDamaged) return damaged({ id, stream, revision, position: positionOf(at) });
  if (data === null || meta === null) return null;
  // `append` wrote the metadata from those of a `NewEvent`, so they have its type.
  return { id, type, data, meta: meta as Metadata, stream, revision, position: positionOf(at) };
};
