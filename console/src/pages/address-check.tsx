import type { Filter } from "../../design/filter-values.ts";
import { AddressFaults } from "../../design/filters.tsx";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go, place } from "../shell/router.ts";

type CheckProps = { readonly filters: readonly Filter[]; readonly query: PageProps["query"] };

/** Of a page without a filter bar: a red chip for each value in its address that it does not take; else nothing. */
export const AddressCheck = ({ filters, query }: CheckProps) => (
  <AddressFaults
    filters={filters}
    values={query}
    onChange={(changed) => go(hrefOf(place.value.path, { ...query, ...changed }), { isReplaced: true })}
  />
);
