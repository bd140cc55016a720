import { signal } from "@preact/signals";
import { call } from "./api.ts";

/** Names of things by id, as far as they were read; people see a name in place of an id. */
const names = signal<ReadonlyMap<string, string>>(new Map());
let isAsked = false;

type Named = { readonly id: string; readonly name: string };

const learn = (all: readonly Named[]): void => {
  names.value = new Map([...names.value, ...all.map(({ id, name }) => [id, name] as const)]);
};

const MOST = 100;

const ask = async (): Promise<void> => {
  const query = { limit: MOST };
  const answers = await Promise.all([
    call("GET /v1/endpoints", { query }),
    call("GET /v1/sources", { query }),
    call("GET /v1/agents", { query }),
    call("GET /v1/policies", { query }),
  ]);
  for (const answer of answers) if (answer.ok) learn(answer.body.data);
};

/** The names that are known; the first component that asks makes them be read. */
export const useNames = (): ((id: string | null) => string | null) => {
  if (!isAsked) {
    isAsked = true;
    void ask();
  }
  const known = names.value;
  return (id) => (id === null ? null : (known.get(id) ?? null));
};

/** What a filter offers: every thing with the prefix of its ids, such as `end_`. */
export const namesOf = (prefix: string): readonly { readonly value: string; readonly word: string }[] =>
  [...names.value].filter(([id]) => id.startsWith(prefix)).map(([value, word]) => ({ value, word }));
