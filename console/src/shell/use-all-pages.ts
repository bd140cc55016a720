import { useState } from "preact/hooks";
import type { Answered, Problem } from "../api/calls.ts";
import type { Page } from "../api/list.ts";

export type AllPages<Row> = {
  /** Null until the last page was read. */
  readonly rows: readonly Row[] | null;
  readonly problem: Problem | null;
  /** How many were read so far. */
  readonly loaded: number;
  readonly read: () => void;
};

/** All rows of a list, page after page, once they are asked for. */
export const useAllPages = <Row>(page: (cursor: string | undefined) => Promise<Answered<Page<Row>>>): AllPages<Row> => {
  const [state, setState] = useState<Omit<AllPages<Row>, "read">>({ rows: null, problem: null, loaded: 0 });
  const read = async (): Promise<void> => {
    const rows: Row[] = [];
    let cursor: string | undefined;
    do {
      const answer = await page(cursor);
      if (!answer.ok) return setState({ rows: null, problem: answer.problem, loaded: 0 });
      rows.push(...answer.body.data);
      cursor = answer.body.next_cursor ?? undefined;
      setState({ rows: null, problem: null, loaded: rows.length });
    } while (cursor !== undefined);
    setState({ rows, problem: null, loaded: rows.length });
  };
  return { ...state, read: () => void read() };
};
