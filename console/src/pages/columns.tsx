import { useState } from "preact/hooks";
import type { Column } from "../../design/table.tsx";
import { ErrorText } from "../../design/text.tsx";
import { preferences } from "../shell/preferences.ts";
import type { ColumnsOf } from "./columns-layer.tsx";

/** A list of fewer columns is seen at a glance. */
const COLUMNS_MIN = 5;

/** The layer comes when it is first opened: the sign-in page loads this file, too. */
const Columns = (of: ColumnsOf) => {
  const [open, setOpen] = useState<typeof import("./columns-layer.tsx") | "failed" | null>(null);
  return (
    <>
      <button
        class="btn"
        type="button"
        onClick={() => void import("./columns-layer.tsx").then(setOpen, () => setOpen("failed"))}
      >
        Columns
      </button>
      {open === null ? null : open === "failed" ? (
        <ErrorText text="The choice could not be loaded. Load the page again." />
      ) : (
        <open.ColumnsLayer {...of} onClose={() => setOpen(null)} />
      )}
    </>
  );
};

/** The columns of a list without those that the member has hidden, and the button by which they are chosen. */
export const useColumns = <Row,>(list: string, all: readonly Column<Row>[]) => {
  const hidden = preferences.value?.hidden_columns.find((it) => it.list === list)?.columns ?? [];
  const kept = new Set(all.filter((it, nth) => nth === 0 || it.isKept === true).map(({ name }) => name));
  const names = all.map(({ name }) => name);
  return {
    shown: all.filter(({ name }) => kept.has(name) || !hidden.includes(name)),
    menu: all.length < COLUMNS_MIN ? null : <Columns list={list} names={names} kept={kept} hidden={hidden} />,
  };
};
