import type { ViewStore } from "../../domain/ports/view-store.ts";
import { type AuditDocument, audit, recordId } from "../../projections/audit.ts";
import type { AccountEvidence } from "./account-evidence.ts";
import { indexesOf } from "./key-chain.ts";
import { type AuditFilter, type AuditSources, recordOf } from "./records.ts";
import { matchesFilter, searchAudit } from "./search.ts";

export type Chosen = {
  readonly keys: readonly string[];
  readonly search: Omit<AuditFilter, "order" | "after">;
};

type FilterDeps = {
  readonly sources: AuditSources;
  readonly evidence: Pick<AccountEvidence, "chain" | "links">;
};

const PAGE = 500;

const documentsAt = async (
  views: Pick<ViewStore, "getMany">,
  account: string,
  indexes: readonly number[],
): Promise<readonly AuditDocument[]> => {
  const ids = indexes.map((index) => recordId(account, index));
  const found = await views.getMany(audit.schema.name, ids);
  return ids.map((id) => recordOf(found.get(id)));
};

/** The indexes of the records, of the first `size`, that a search by other fields than keys finds, in pages. */
export async function* searchedIndexes(
  { sources }: FilterDeps,
  { search }: Chosen,
  size: number,
): AsyncGenerator<readonly number[], void> {
  for (let after: number | null = null; ; ) {
    const found: readonly AuditDocument[] = await searchAudit(sources, { ...search, order: "asc", after }, PAGE);
    const indexes = found.map(({ index }) => index).filter((index) => index < size);
    if (indexes.length > 0) yield indexes;
    if (indexes.length < PAGE) return;
    after = indexes.at(-1) ?? null;
  }
}

/** The chain of the first key, without the records that lack another key or do not match the search. */
export async function* chainIndexes(
  { sources, evidence }: FilterDeps,
  { keys, search }: Chosen,
  { number, last, size }: { readonly number: number; readonly last: number | null; readonly size: number },
): AsyncGenerator<readonly number[], void> {
  const [key = "", ...others] = keys;
  const { account, from, to, type, actor, subject, stream } = search;
  const isSearched =
    [from, to].some((it) => it !== null) || [type, actor, subject, stream].some((it) => it !== undefined);
  if (last === null) return;
  for await (const page of indexesOf(evidence, { account, key, number, last })) {
    for (let at = 0; at < page.length; at += PAGE) {
      let indexes = page.slice(at, at + PAGE).filter((index) => index < size);
      if (others.length > 0) {
        const links = await evidence.links(account, indexes);
        indexes = indexes.filter((_, i) => others.every((other) => links[i]?.some(([name]) => name === other)));
      }
      if (isSearched) {
        const documents = await documentsAt(sources.views, account, indexes);
        indexes = indexes.filter((_, i) => {
          const document = documents[i];
          return document !== undefined && matchesFilter(search, document);
        });
      }
      if (indexes.length > 0) yield indexes;
    }
  }
}
