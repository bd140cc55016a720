/** The name `delivery-evt_1-b` is split at its first dash: category `delivery`, key `evt_1-b`. */
export type StreamName = { readonly category: string; readonly key: string };

const STREAM_NAME_MAX = 512;
/** A category begins with a letter, which excludes the engines' system streams (`$...`). */
const STREAM_NAME = /^(?<category>[a-z][a-z0-9_]*)-(?<key>[^\p{Cc}\p{Cs}]+)$/u;

export const parseStreamName = (stream: string): StreamName => {
  const { category, key } = STREAM_NAME.exec(stream)?.groups ?? {};
  if (category === undefined || key === undefined || stream.length > STREAM_NAME_MAX)
    throw new TypeError(`not a stream name: ${JSON.stringify(stream.slice(0, STREAM_NAME_MAX))}`);
  return { category, key };
};

export const ERASABLE_CATEGORIES: readonly string[] = ["payload", "personal"];

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
