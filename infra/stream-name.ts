/** `delivery-evt_1-b` has the category `delivery` and the key `evt_1-b`. */
export type StreamName = { readonly category: string; readonly key: string };

/** Names are index keys in every engine, and thousands of them are held in memory. */
const STREAM_NAME_MAX = 512;
/** A category begins with a letter, which excludes the engines' system streams (`$...`). */
const STREAM_NAME = /^(?<category>[a-z][a-z0-9_]*)-(?<key>[^\p{Cc}\p{Cs}]+)$/u;

/** Splits at the first dash. Throws a `TypeError` for an invalid name, which is a bug of the caller. */
export const parseStreamName = (stream: string): StreamName => {
  const { category, key } = STREAM_NAME.exec(stream)?.groups ?? {};
  if (category === undefined || key === undefined || stream.length > STREAM_NAME_MAX)
    throw new TypeError(`not a stream name: ${JSON.stringify(stream.slice(0, STREAM_NAME_MAX))}`);
  return { category, key };
};

/** Streams of other categories are the record and cannot be erased. */
export const ERASABLE_CATEGORIES: readonly string[] = ["payload", "personal"];

export const isErasable = ({ category }: Pick<StreamName, "category">): boolean =>
  ERASABLE_CATEGORIES.includes(category);

/** Also throws a `TypeError` for a stream that must not be erased. */
export const parseErasable = (stream: string): StreamName => {
  const name = parseStreamName(stream);
  if (!isErasable(name))
    throw new TypeError(`${stream} is part of the record: only payloads and personal data can be erased`);
  return name;
};

/** A blank event at an erasable stream's end takes a revision, so that the one before it can be erased. */
export const BLANK_TYPE = "Blank";

/** Stands for an event of an erasable stream that was changed on disk. */
export const DAMAGED_TYPE = "Damaged";
