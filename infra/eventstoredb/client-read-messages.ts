import shared from "@eventstore/db-client/generated/shared_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import type { JsonObject } from "../../domain/json.ts";
import { ERASABLE_CATEGORIES } from "../stream-name.ts";
import { cursorFrom, uuidOf } from "./client-append-messages.ts";
import { type AllPage, ConnectionFailure, type StoredEvent, type StreamPage } from "./connection.ts";

const TOO_OLD = "EventStoreDB 22.6 or newer is needed: this one does not say where in the log an event is";
/**
 * The server, a .NET program, leaves out erasable streams by this regular expression. System streams are read: they are
 * few, and a page that has none of them would not tell how far the server has searched.
 */
const RECORDS = `^(?!${ERASABLE_CATEGORIES.map((category) => `${category}-`).join("|")})`;
/** The server's times count units of 100 ns. */
const TICKS_PER_MS = 10_000;

const { ReadReq } = streams;
const Options = ReadReq.Options;

const recordsFilter = (): streams.ReadReq.Options.FilterOptions =>
  new Options.FilterOptions()
    .setStreamIdentifier(new Options.FilterOptions.Expression().setRegex(RECORDS))
    .setCount(new shared.Empty())
    .setCheckpointintervalmultiplier(1);

const optionsOf = (direction: "forwards" | "backwards", count: number): streams.ReadReq.Options =>
  new Options()
    .setReadDirection(direction === "forwards" ? 0 : 1)
    .setResolveLinks(false)
    // The types ask for text: a request with a number is never answered.
    .setCount(String(count))
    .setUuidOption(new Options.UUIDOption().setString(new shared.Empty()));

export const allRequest = ({ direction, from, count, only }: AllPage): streams.ReadReq => {
  const all = new Options.AllOptions();
  if (from === "start") all.setStart(new shared.Empty());
  else if (from === "end") all.setEnd(new shared.Empty());
  else
    all.setPosition(
      new Options.Position().setCommitPosition(String(from.commit)).setPreparePosition(String(from.prepare)),
    );
  const options = optionsOf(direction, count).setAll(all);
  if (only === "records") options.setFilter(recordsFilter());
  else options.setNoFilter(new shared.Empty());
  return new ReadReq().setOptions(options);
};

export const streamRequest = (stream: string, { direction, from, count }: StreamPage): streams.ReadReq => {
  const name = new shared.StreamIdentifier().setStreamName(new TextEncoder().encode(stream));
  const asked = new Options.StreamOptions().setStreamIdentifier(name);
  if (from === "end") asked.setEnd(new shared.Empty());
  else asked.setRevision(String(from));
  return new ReadReq().setOptions(optionsOf(direction, count).setStream(asked).setNoFilter(new shared.Empty()));
};

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");

const jsonObject = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text);
    // Parsed from JSON, and an object.
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
};

/** By this field a damaged event of ours is recognised: hardly any other program writes metadata with such a field. */
const OWN_META = '"command_id"';

/** Decodes one answer of a read; null for an answer that has no event, and for a link whose event no longer exists. */
export const storedEvent = (
  answer: streams.ReadResp,
  wanted: (event: Pick<StoredEvent, "stream" | "type">) => boolean,
): StoredEvent | null => {
  const event = answer.getEvent()?.getEvent();
  if (event === undefined) return null;
  const at = cursorFrom(event.getCommitPosition(), event.getPreparePosition());
  if (at === null) throw new ConnectionFailure("refused", "too-old", TOO_OLD);
  const facts = event.getMetadataMap();
  const type = facts.get("type") ?? "";
  const stream = textOf(event.getStreamIdentifier()?.getStreamName_asU8() ?? new Uint8Array());
  const isJson = facts.get("content-type") === "application/json";
  // What is not wanted is not parsed either: most of its bytes are payloads.
  const data = !isJson ? null : wanted({ stream, type }) ? jsonObject(textOf(event.getData_asU8())) : {};
  const metaText = textOf(event.getCustomMetadata_asU8());
  const meta = metaText === "" ? null : jsonObject(metaText);
  return {
    id: uuidOf(event.getId()),
    type,
    stream,
    revision: Number(event.getStreamRevision()),
    at,
    writtenMs: Math.floor(Number(facts.get("created") ?? 0) / TICKS_PER_MS) || null,
    data,
    meta,
    isDamaged: (data === null || meta === null) && metaText.includes(OWN_META),
  };
};
