import { CanonicalWriter } from "../../domain/evidence/canonical-writer.ts";
import { ESCAPED_SURROGATE, type Leaf, leafText } from "../../domain/evidence/leaf.ts";
import { textLeafHash } from "../../domain/evidence/merkle.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { RecordLinks } from "../../domain/ports/key-map-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";

const linkText = ([key, [n, last]]: RecordLinks[number]): string => `${JSON.stringify(key)}:[${n},${last}]`;

/** Hashes many leaves as `leafHash` does the bytes of each, in half of the time. */
export class LeafHasher {
  readonly #writer = new CanonicalWriter();

  /**
   * `links` are the leaf's keys, in the order of UTF-16. They are not given as an object, because most of its members
   * would have a name that no other object has, which JavaScript handles slowly.
   */
  hash(leaf: Omit<Leaf, "keys">, links: RecordLinks): Uint8Array {
    const text = this.#text(leaf, links);
    const isWellFormed = !text.includes(ESCAPED_SURROGATE);
    return textLeafHash(sha256, isWellFormed ? text : leafText({ ...leaf, keys: Object.fromEntries(links) }));
  }

  /** The members in the order of their names, as `leafBytes` has them. */
  #text(leaf: Omit<Leaf, "keys">, links: RecordLinks): string {
    const { account, actor, data, id, index, meta, recorded_at, revision, stream, subject, type, v } = leaf;
    const before = this.#members({ account, actor, data, id, index });
    const after = this.#members({ meta, recorded_at, revision, stream, subject, type, v });
    return `{${before},"keys":{${links.map(linkText).join(",")}},${after}}`;
  }

  #members(object: JsonObject): string {
    return this.#writer.write(object).slice(1, -1);
  }
}
