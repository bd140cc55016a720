import { count } from "../../design/format.ts";
import type { Use } from "./policy-words.ts";

const NAMED_MAX = 2;

const hrefOfUse = ({ kind, id }: Use): string =>
  kind === "action" ? `/agents/actions/${encodeURIComponent(id)}` : `/${kind}s/${encodeURIComponent(id)}`;

/** "refund-bot, shop and 3 more", each name with its page. */
export const UsedBy = ({ uses }: { readonly uses: readonly Use[] }) => {
  if (uses.length === 0) return <>nothing</>;
  const named = uses.slice(0, NAMED_MAX);
  const more = uses.length - named.length;
  return (
    <>
      {named.map((use, nth) => (
        <>
          {nth === 0 ? "" : nth === named.length - 1 && more === 0 ? " and " : ", "}
          <a href={hrefOfUse(use)}>{use.name}</a>
        </>
      ))}
      {more === 0 ? "" : ` and ${count(more)} more`}
    </>
  );
};
