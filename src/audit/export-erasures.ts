import { LRUCache } from "lru-cache";
import { toBase64 } from "../../domain/evidence/bytes.ts";
import { isErasureOf } from "../../domain/evidence/commitment.ts";
import type { ErasureLine } from "../../domain/evidence/export-lines.ts";
import type { AuditDocument } from "../../projections/audit.ts";
import { erasureStream } from "../erasure/personal-data.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import type { AccountEvidence } from "./account-evidence.ts";
import { payloadSubjectOf } from "./committed-values.ts";
import { leavesAt } from "./export.ts";
import { type AuditSources, eventOf, eventsAt } from "./records.ts";
import { searchAudit } from "./search.ts";

export type ErasureLinesDeps = {
  readonly sources: AuditSources;
  readonly evidence: Pick<AccountEvidence, "leafHashes" | "links" | "inclusion">;
};

export type ErasuresWanted = {
  readonly account: string;
  /** Of the checkpoint with which the export is made. */
  readonly size: number;
  /** Whether the export has the record at this index, which names these keys, as one of its own. */
  readonly hasRecord: (index: number, keys: ReadonlySet<string>) => boolean;
};

/** Most events are erased once, and a bundle with its steps twice at most. */
const ERASURES_MAX = 100;
/** Subjects whose erasures are remembered, and erasures that are not written again. */
const KNOWN_MAX = 10_000;

const searchFor = (id: string): { readonly stream: string; readonly type: string } => {
  const subject = payloadSubjectOf(id);
  if (subject === null) return { stream: erasureStream(id), type: "PersonalDataErased" };
  return subject.startsWith("bun_")
    ? { stream: bundleStream(subject), type: "BundlePayloadErased" }
    : { stream: `delivery-${subject}`, type: "PayloadErased" };
};

/**
 * The records that say that a commitment's value was erased, for exports that do not have them among their own: a
 * filter by an agent, for example, leaves out the erasure of an event's payload, and the payload would seem withheld.
 */
export const erasureLines = ({ sources, evidence }: ErasureLinesDeps, { account, size, hasRecord }: ErasuresWanted) => {
  const known = new LRUCache<string, readonly AuditDocument[]>({ max: KNOWN_MAX });
  const given = new LRUCache<number, true>({ max: KNOWN_MAX });
  const records = (of: string, indexes: readonly number[]) => eventsAt(sources, of, indexes);

  const erasuresIn = async (search: ReturnType<typeof searchFor>): Promise<readonly AuditDocument[]> => {
    const there = known.get(search.stream);
    if (there !== undefined) return there;
    const filter = { account, ...search, from: null, to: null, order: "asc", after: null } as const;
    const found = (await searchAudit(sources, filter, ERASURES_MAX)).filter(({ index }) => index < size);
    known.set(search.stream, found);
    return found;
  };

  /** Null if no sealed record says that it was erased, or if the export says so elsewhere. */
  return async (id: string): Promise<ErasureLine | null> => {
    for (const document of await erasuresIn(searchFor(id))) {
      const { type, data } = await eventOf(sources.log, document);
      if (!isErasureOf(id, { type, data })) continue;
      const { index } = document;
      if (given.has(index)) return null;
      given.set(index, true);
      const [links = []] = await evidence.links(account, [index]);
      if (hasRecord(index, new Set(links.map(([key]) => key)))) return null;
      const [erasure] = await leavesAt({ evidence, records }, account, [index]);
      if (erasure === undefined) return null;
      const hashes = (await evidence.inclusion(account, index, size)).map(toBase64);
      return { kind: "erasure", index, leaf: toBase64(erasure.leaf), hashes };
    }
    return null;
  };
};
