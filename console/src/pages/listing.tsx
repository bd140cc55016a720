import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../../design/mark.tsx";
import { Empty, LoadError, Loading } from "../../design/placeholders.tsx";
import { type Column, DataTable, FreshBar, Pager } from "../../design/table.tsx";
import { Head, Zone } from "../../design/text.tsx";
import { withHolders } from "../api/holders.ts";
import { useCrumbName } from "../shell/crumb-name.ts";
import { missingAt } from "../shell/frame-state.ts";
import { place } from "../shell/router.ts";
import type { Shown } from "../shell/use-answer.ts";
import type { ShownList } from "../shell/use-list.ts";
import { whyNotAdmin } from "./act.tsx";
import { useColumns } from "./columns.tsx";
import { Export } from "./export.tsx";
import type { ExportProps } from "./export-layer.tsx";

/** "add a source" of the label "Add a source". */
const begun = (label: string): string => label.charAt(0).toLowerCase() + label.slice(1);

type ListingProps<Row> = {
  readonly title: string;
  readonly meta?: ComponentChildren;
  readonly list: ShownList<Row>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Where the first, and each further one, is made. */
  readonly make?: { readonly label: string; readonly href: string };
  /** Saves all rows of the list as a file; left out: they are not exported. */
  readonly exported?: Pick<ExportProps<Row>, "columns" | "page">;
  readonly empty: { readonly title: string; readonly text: string };
  readonly children?: ComponentChildren;
};

/** A page of one list; `children` stand between its head and its rows. */
export const Listing = <Row,>({
  title,
  meta,
  list,
  columns,
  keyOf,
  make,
  exported,
  empty,
  children,
}: ListingProps<Row>) => {
  const { state, isLoaded, isLoading, isWrong, problem, since } = list;
  const what = title.toLowerCase();
  const { shown, menu } = useColumns(title, columns);
  const [isExporting, setExporting] = useState(false);
  const begin =
    make === undefined ? undefined : whyNotAdmin() !== null ? (
      <span class="soft">{withHolders(`Only an admin or an owner can ${begun(make.label)}`, "admin")}</span>
    ) : (
      <a class="btn first" href={make.href}>
        {make.label}
      </a>
    );
  const isEmpty = isLoaded && state.rows.length === 0 && state.waiting.length === 0;
  return (
    <>
      <Head
        title={title}
        meta={meta ?? <Zone />}
        acts={
          isEmpty ? undefined : (
            <>
              {menu}
              {exported === undefined || isWrong ? null : (
                <button class="btn" type="button" onClick={() => setExporting(true)}>
                  <Icon name="down" small />
                  Export…
                </button>
              )}
              {begin}
            </>
          )
        }
      />
      {children}
      {problem === null ? null : (
        <LoadError what="The list" failure={problem} since={isLoaded ? since : null} onRetry={list.retry} />
      )}
      {isWrong ? (
        <WrongFilter />
      ) : isEmpty ? (
        <Empty {...empty}>{begin}</Empty>
      ) : (
        <div>
          <FreshBar waiting={list.waiting} what={what} onShow={list.showWaiting} />
          {isLoaded ? (
            <DataTable
              caption={title}
              columns={shown}
              rows={state.rows}
              keyOf={keyOf}
              isLeft={(row) => state.left.has(keyOf(row))}
            />
          ) : problem === null ? (
            <Loading rows={6} />
          ) : null}
          {isLoaded ? <Pager shown={state.rows.length} onMore={list.more} isLoading={isLoading} /> : null}
        </div>
      )}
      {isExporting && exported !== undefined ? (
        <Export what={what} which="All that match" {...exported} onClose={() => setExporting(false)} />
      ) : null}
    </>
  );
};

/** In place of the rows, which nobody could tell from those of the filter that was meant. */
export const WrongFilter = () => (
  <Empty
    title="Nothing is listed"
    text="The address has a value that this list does not take. What it expects stands beside the filters."
  />
);

type ThingProps<T> = {
  readonly what: string;
  readonly shown: Shown<T>;
  readonly children: (it: T) => ComponentChildren;
};

const nameIn = (it: unknown): string | null =>
  typeof it === "object" && it !== null && "name" in it && typeof it.name === "string" ? it.name : null;

/** Leaves the page to the one that leads on from an address without a thing. */
export const Missing = () => {
  useEffect(() => {
    missingAt.value = place.value;
  }, []);
  return null;
};

/** One thing, or why it is not there. Nothing tells whether an id exists in another account. */
export const Thing = <T,>({ what, shown, children }: ThingProps<T>) => {
  useCrumbName(nameIn(shown.body));
  if (shown.body !== null) return <>{children(shown.body)}</>;
  if (shown.problem === null) return <Loading rows={8} />;
  return shown.problem.status === 404 ? (
    <Missing />
  ) : (
    <LoadError what={what} failure={shown.problem} since={null} onRetry={shown.again} />
  );
};
