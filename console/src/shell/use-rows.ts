import { useEffect, useRef, useState } from "preact/hooks";
import type { Answered, Problem } from "../api/calls.ts";
import { EMPTY_LIST, firstPage, type ListState, type Page, withMore } from "../api/list.ts";
import { useRecovery } from "./use-recovery.ts";

export type Rows<Row> = {
  readonly rows: readonly Row[];
  readonly isLoaded: boolean;
  readonly isLoading: boolean;
  readonly problem: Problem | null;
  /** When what is shown was loaded, ISO 8601; null before that. */
  readonly since: string | null;
  readonly more: (() => void) | null;
  /** Reads the list again; what is shown stays until the answer is there. */
  readonly again: () => void;
};

type Deps<Row> = {
  readonly keyOf: (row: Row) => string;
  readonly page: (cursor: string | undefined) => Promise<Answered<Page<Row>>>;
};

/** A list that does not follow the stream, such as members and keys: it is read when it is opened and after one's own acts. */
export const useRows = <Row>({ keyOf, page }: Deps<Row>): Rows<Row> => {
  const [state, setState] = useState<ListState<Row>>(EMPTY_LIST);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isLoading, setLoading] = useState(true);
  const [since, setSince] = useState<string | null>(null);
  /** An answer that is older than another question is not shown. */
  const asked = useRef(0);
  /** The cursor of the latest question; undefined for the first page. A recovery repeats it, so that loaded pages stay. */
  const last = useRef<string | undefined>(undefined);
  const read = async (cursor: string | undefined): Promise<void> => {
    asked.current += 1;
    last.current = cursor;
    const nth = asked.current;
    setLoading(true);
    const answer = await page(cursor);
    if (nth !== asked.current) return;
    setLoading(false);
    setProblem(answer.ok ? null : answer.problem);
    if (!answer.ok) return;
    setSince(new Date().toISOString());
    setState((before) => (cursor === undefined ? firstPage(answer.body) : withMore(before, answer.body, keyOf)));
  };
  useEffect(() => {
    void read(undefined);
    return () => {
      asked.current += 1;
    };
  }, []);
  useRecovery(problem, () => void read(last.current));
  const { rows, cursor } = state;
  return {
    ...{ rows, isLoading, problem, since },
    isLoaded: since !== null,
    more: cursor === null ? null : () => void read(cursor),
    again: () => void read(undefined),
  };
};
