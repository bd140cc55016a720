import { useEffect, useRef, useState } from "preact/hooks";
import { count, counted } from "../../design/format.ts";
import { Layer } from "../../design/layer.tsx";
import { ErrorText } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import type { Answered, Problem } from "../api/calls.ts";
import type { Page } from "../api/list.ts";
import { csvOf, type ExportColumn, ndjsonOf } from "./export-text.ts";

/** A file is made in the browser's memory; beyond this a narrower filter, or the API, serves better. */
const ROWS_MAX = 10_000;

const KINDS = [
  { extension: "csv", word: "Save as CSV", type: "text/csv;charset=utf-8" },
  { extension: "ndjson", word: "Save as NDJSON", type: "application/x-ndjson" },
] as const;
type Kind = (typeof KINDS)[number];

const save = (name: string, { extension, type }: Kind, text: string): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = `${name}.${extension}`;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

export type ExportProps<Row> = {
  /** A plural, such as "events"; it also names the file. */
  readonly what: string;
  /** Which rows: "All that match the filter". */
  readonly which: string;
  readonly columns: readonly ExportColumn<Row>[];
  readonly page: (cursor: string | undefined) => Promise<Answered<Page<Row>>>;
  readonly onClose: () => void;
};

/** Reads all rows of a list and saves them as a file; what was read stays when a page fails, and "Go on" takes it up. */
export const ExportLayer = <Row,>({ what, which, columns, page, onClose }: ExportProps<Row>) => {
  const [kind, setKind] = useState<Kind | null>(null);
  const [read, setRead] = useState(0);
  const [fault, setFault] = useState<Problem | null>(null);
  const kept = useRef<{ readonly rows: Row[]; cursor: string | undefined; isGone: boolean }>({
    ...{ rows: [], cursor: undefined, isGone: false },
  });
  useEffect(
    () => () => {
      kept.current.isGone = true;
    },
    [],
  );
  const run = async (chosen: Kind): Promise<void> => {
    setKind(chosen);
    setFault(null);
    const { rows } = kept.current;
    let isWhole = false;
    while (!isWhole && rows.length < ROWS_MAX) {
      const answer = await page(kept.current.cursor);
      if (kept.current.isGone) return;
      if (!answer.ok) return setFault(answer.problem);
      rows.push(...answer.body.data);
      isWhole = answer.body.next_cursor === null;
      kept.current.cursor = answer.body.next_cursor ?? undefined;
      setRead(rows.length);
    }
    const shown = rows.slice(0, ROWS_MAX);
    save(
      `${what}-${new Date().toISOString().slice(0, 10)}`,
      chosen,
      chosen.extension === "csv" ? csvOf(shown, columns) : ndjsonOf(shown),
    );
    toast.value = {
      text: `${counted(shown.length, what.replace(/s$/, ""))} saved${isWhole ? "." : `: the newest of more. A narrower filter has all of them.`}`,
    };
    onClose();
  };
  return (
    <Layer label={`Export ${what}`} kind="box" onClose={onClose}>
      <h3>Export {what}</h3>
      <p>
        {which}, newest first, at most {count(ROWS_MAX)}. The file has what the list shows, and times in UTC. Payloads
        are not in it.
      </p>
      <div role="status">{kind === null ? null : <p class="soft">{count(read)} read so far.</p>}</div>
      <ErrorText text={fault?.detail ?? null} />
      <div class="row">
        <button class="btn" type="button" onClick={onClose}>
          Cancel
        </button>
        {kind !== null && fault !== null ? (
          <button class="btn first end" type="button" onClick={() => void run(kind)}>
            Go on
          </button>
        ) : (
          KINDS.map((it, nth) => (
            <button
              key={it.extension}
              class={`btn ${nth === 0 ? "end" : ""}`}
              type="button"
              disabled={kind !== null}
              onClick={() => void run(it)}
            >
              {it.word}
            </button>
          ))
        )}
      </div>
    </Layer>
  );
};
