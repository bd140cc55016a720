/** A stream's name in its two parts: `delivery-evt_1-b` is the category `delivery` and the key `evt_1-b`. */
export type StreamName = { readonly category: string; readonly key: string };

/** Names are index keys in every engine, and are held in memory by the thousand. */
const STREAM_NAME_MAX = 512;
/** A category begins with a letter, so that no engine's system stream (`$...`) can be named; the key is printable text. */
const STREAM_NAME = /^(?<category>[a-z][a-z0-9_]*)-(?<key>[^\p{Cc}\p{Cs}]+)$/u;

/** Splits at the first dash. A name of another form is a bug of the caller and throws a `TypeError`. */
export const parseStreamName = (stream: string): StreamName => {
  const { category, key } = STREAM_NAME.exec(stream)?.groups ?? {};
  if (category === undefined || key === undefined || stream.length > STREAM_NAME_MAX)
    throw new TypeError(`not a stream name: ${JSON.stringify(stream.slice(0, STREAM_NAME_MAX))}`);
  return { category, key };
};

/** The categories whose content may be removed. All other streams are the record. */
export const ERASABLE_CATEGORIES: readonly string[] = ["payload", "personal"];

export const isErasable = ({ category }: Pick<StreamName, "category">): boolean =>
  ERASABLE_CATEGORIES.includes(category);

/** As `parseStreamName`, and throws a `TypeError` for a stream that must not be erased. */
export const parseErasable = (stream: string): StreamName => {
  const name = parseStreamName(stream);
  if (!isErasable(name))
    throw new TypeError(`${stream} is part of the record: only payloads and personal data can be erased`);
  return name;
};

/** An event without content, in an erasable stream alone: it keeps a revision taken, and the one before it erasable. */
export const BLANK_TYPE = "Blank";

/** What is shown, without content, of an event in an erasable stream that cannot be read as it was written. */
export const DAMAGED_TYPE = "Damaged";
