import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import { ESCAPED_SURROGATE, type Leaf, leafText } from "../../domain/evidence/leaf.ts";
import { textLeafHash } from "../../domain/evidence/merkle.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { RecordLinks } from "../../domain/ports/key-map-store.ts";
import { sha256OfText } from "../../infra/crypto/sha256.ts";

const linkText = ([key, [n, last]]: RecordLinks[number]): string => `${JSON.stringify(key)}:[${n},${last}]`;

const membersOf = (object: JsonObject): string => canonicalJson(object).slice(1, -1);

/** The members in the order of their names, as `leafText` has them. */
const textOf = (leaf: Omit<Leaf, "keys">, links: RecordLinks): string => {
  const { account, actor, data, id, index, meta, recorded_at, revision, stream, subject, type, v } = leaf;
  const before = membersOf({ account, actor, data, id, index });
  const after = membersOf({ meta, recorded_at, revision, stream, subject, type, v });
  return `{${before},"keys":{${links.map(linkText).join(",")}},${after}}`;
};

/**
 * The hash of a leaf, as `leafHash` of its bytes. `links` are the leaf's keys, in the order of UTF-16. They are not given
 * as an object, because most of its members would have a name that no other object has, which JavaScript handles slowly.
 */
export const linkedLeafHash = (leaf: Omit<Leaf, "keys">, links: RecordLinks): Uint8Array => {
  const text = textOf(leaf, links);
  const isWellFormed = !text.includes(ESCAPED_SURROGATE);
  return textLeafHash(sha256OfText, isWellFormed ? text : leafText({ ...leaf, keys: Object.fromEntries(links) }));
};
