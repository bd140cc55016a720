import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import { ESCAPED_SURROGATE, leafOf, leafText, withSealedHashed } from "../../domain/evidence/leaf.ts";
import { textLeafHash } from "../../domain/evidence/merkle.ts";
import { subjectOf } from "../../domain/evidence/record-keys.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Metadata, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { RecordLinks } from "../../domain/ports/key-map-store.ts";
import { sha256, sha256OfText } from "../../infra/crypto/sha256.ts";

/** What a leaf's text has of its record's metadata: before the data, and after the keys. */
type Envelope = { readonly meta: Metadata; readonly before: string; readonly after: string };

const envelopeOf = (meta: Metadata): Envelope => {
  const { account, actor, recorded_at, ...rest } = meta;
  return {
    meta,
    before: `{"account":${canonicalJson(account)},"actor":${canonicalJson(actor)},"data":`,
    // An optional member is absent here, and never undefined, which is all that the compiler misses.
    after: `},"meta":${canonicalJson(rest as JsonObject)},"recorded_at":${canonicalJson(recorded_at)},"revision":`,
  };
};

const linkText = ([key, [n, last]]: RecordLinks[number]): string => `${canonicalJson(key)}:[${n},${last}]`;

/** Hashes the leaves of records in the order of the log. */
export class LeafHashes {
  /** Of the last record: those of one append follow one another, and have the same metadata. */
  #envelope: Envelope | null = null;

  /**
   * As `leafHash` of the leaf's bytes. `links` are the leaf's keys, in the order of UTF-16. They are not given as an object,
   * because most of its members would have a name that no other object has, which JavaScript handles slowly.
   */
  of(record: RecordedEvent, index: number, links: RecordLinks): Uint8Array {
    const text = this.#textOf(record, index, links);
    const isWellFormed = !text.includes(ESCAPED_SURROGATE);
    const whole = isWellFormed ? text : leafText(leafOf(sha256, record, { index, keys: Object.fromEntries(links) }));
    return textLeafHash(sha256OfText, whole);
  }

  /** The text as `leafText` has it: all members in the order of their names. */
  #textOf({ id, stream, revision, type, data, meta }: RecordedEvent, index: number, links: RecordLinks): string {
    const envelope = this.#envelope?.meta === meta ? this.#envelope : envelopeOf(meta);
    this.#envelope = envelope;
    const own = `${canonicalJson(withSealedHashed(sha256, data))},"id":${canonicalJson(id)},"index":${index}`;
    const place = `${revision},"stream":${canonicalJson(stream)},"subject":${canonicalJson(subjectOf(stream))}`;
    const keys = links.map(linkText).join(",");
    return `${envelope.before}${own},"keys":{${keys}${envelope.after}${place},"type":${canonicalJson(type)},"v":1}`;
  }
}
