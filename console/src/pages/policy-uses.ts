import { call } from "../api/api.ts";
import type { Answered } from "../api/calls.ts";
import type { Page } from "../api/list.ts";
import { type Shown, useAnswer } from "../shell/use-answer.ts";
import type { Use } from "./policy-words.ts";

type Bound = { readonly name: string; readonly policy_id?: string | null | undefined };
type Query = { readonly limit: number; readonly cursor?: string };

const PAGE = 100;
/** An account has at most 5,000 of a kind; of more than this many pages, nobody reads the names. */
const PAGES_MAX = 20;

const everyRow = async <Row>(
  read: (query: Query) => Promise<Answered<Page<Row>>>,
): Promise<Answered<readonly Row[]>> => {
  const rows: Row[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer: Answered<Page<Row>> = await read({ limit: PAGE, ...(cursor === null ? {} : { cursor }) });
    if (!answer.ok) return answer;
    rows.push(...answer.body.data);
    cursor = answer.body.next_cursor;
    if (cursor === null) break;
  }
  return { ok: true, body: rows };
};

export type Uses = ReadonlyMap<string, readonly Use[]>;

const readUses = async (): Promise<Answered<Uses>> => {
  const [agents, sources, endpoints, actions] = await Promise.all([
    everyRow((query) => call("GET /v1/agents", { query })),
    everyRow((query) => call("GET /v1/sources", { query })),
    everyRow((query) => call("GET /v1/endpoints", { query })),
    everyRow((query) => call("GET /v1/actions", { query })),
  ]);
  const uses = new Map<string, Use[]>();
  const add = (kind: Use["kind"], id: string, { name, policy_id: policy }: Bound): void => {
    if (typeof policy === "string") uses.set(policy, [...(uses.get(policy) ?? []), { kind, id, name }]);
  };
  for (const answer of [agents, sources, endpoints, actions]) if (!answer.ok) return answer;
  if (agents.ok) for (const it of agents.body) add("agent", it.id, it);
  if (sources.ok) for (const it of sources.body) add("source", it.id, it);
  if (endpoints.ok) for (const it of endpoints.body) add("endpoint", it.id, it);
  if (actions.ok) for (const it of actions.body) add("action", it.name, it);
  return { ok: true, body: uses };
};

/** What each policy is put on, by the policy's id. */
export const usePolicyUses = (): Shown<Uses> => useAnswer<Uses>({ key: "uses", on: null }, readUses);
