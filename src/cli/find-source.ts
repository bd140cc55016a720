import { didYouMean } from "../../domain/did-you-mean.ts";
import type { SourceAnswer } from "../routes/sources/source-answer.ts";
import type { Api } from "./api.ts";

const ID = /^src_[a-z2-7]{32}$/;
const PAGE_MAX = 100;

type Page = { readonly data: readonly SourceAnswer[]; readonly next_cursor: string | null };

const all = async (api: Api): Promise<readonly SourceAnswer[]> => {
  const found: SourceAnswer[] = [];
  for (let cursor: string | undefined; ; ) {
    const page: Page = await api.get("/v1/sources", { limit: PAGE_MAX, cursor });
    found.push(...page.data);
    if (page.next_cursor === null) return found;
    cursor = page.next_cursor;
  }
};

/** The source of this id or name. Names need not be unique, so one that several sources have is an error. */
export const findSource = async (api: Api, named: string): Promise<SourceAnswer> => {
  if (ID.test(named)) return api.get<SourceAnswer>(`/v1/sources/${named}`);
  const sources = await all(api);
  const [source, ...others] = sources.filter(({ name }) => name === named);
  if (source === undefined) {
    const names = sources.map(({ name }) => name);
    const there = names.length === 0 ? "The account has no source." : `There are: ${names.join(", ")}.`;
    throw new Error(`There is no source "${named}".${didYouMean(named, names)} ${there}`);
  }
  if (others.length > 0) {
    const ids = [source, ...others].map(({ id }) => id);
    throw new Error(`Several sources are called "${named}": use one of the ids ${ids.join(", ")}.`);
  }
  return source;
};
