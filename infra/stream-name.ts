/** The name `delivery-evt_1-b` is split at its first dash: category `delivery`, key `evt_1-b`. */
export type StreamName = { readonly category: string; readonly key: string };

const STREAM_NAME_MAX = 512;
/** A category and a key. A category begins with a letter, which excludes the engines' system streams (`$...`). */
const STREAM_NAME = /^[a-z][a-z0-9_]*-[^\p{Cc}\p{Cs}]+$/u;

export const parseStreamName = (stream: string): StreamName => {
  if (stream.length > STREAM_NAME_MAX || !STREAM_NAME.test(stream))
    throw new TypeError(`not a stream name: ${JSON.stringify(stream.slice(0, STREAM_NAME_MAX))}`);
  const dash = stream.indexOf("-");
  return { category: stream.slice(0, dash), key: stream.slice(dash + 1) };
};

export const ERASABLE_CATEGORIES: readonly string[] = ["payload", "personal"];

/** Events write these streams, all the time; people and their programs write the others. */
export const FREQUENT_CATEGORIES: readonly string[] = ["delivery", "payload", "ledger", "bundle", "checkpoint"];

export const isErasable = ({ category }: Pick<StreamName, "category">): boolean =>
  ERASABLE_CATEGORIES.includes(category);

export const parseErasable = (stream: string): StreamName => {
  const name = parseStreamName(stream);
  if (!isErasable(name))
    throw new TypeError(`${stream} is part of the record: only payloads and personal data can be erased`);
  return name;
};

/** An erasure may end a stream with a blank event, because some engines never remove a stream's last event. */
export const BLANK_TYPE = "Blank";

export const DAMAGED_TYPE = "Damaged";
