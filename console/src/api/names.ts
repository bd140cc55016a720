import { signal } from "@preact/signals";
import { type AnswerOf, call, me } from "./api.ts";
import { LISTED_KINDS } from "./listed-kinds.ts";

/** Names of things by id, as far as they were read; people see a name in place of an id. */
const names = signal<ReadonlyMap<string, string>>(new Map());
let asked: Promise<void> | null = null;

type Named = { readonly id: string; readonly name: string };

const learn = (all: readonly Named[]): void => {
  names.value = new Map([...names.value, ...all.map(({ id, name }) => [id, name] as const)]);
};

type Directory = AnswerOf<"GET /v1/directory">;

const learnFrom = (directory: Directory): void =>
  learn(
    Object.entries(directory).flatMap(([id, { name, removed }]) =>
      name === null ? [] : [{ id, name: removed ? `${name} removed` : name }],
    ),
  );

const ask = async (): Promise<void> => {
  const answer = await call("GET /v1/directory", { query: { kinds: LISTED_KINDS } });
  if (answer.ok) learnFrom(answer.body);
};

/** What the directory was asked for, so that an id that it does not know is asked for once. */
const askedFor = new Set<string>();
let next: string[] = [];
/** What the directory takes in one call. */
const IDS_MAX = 100;

/** Ids that the directory was asked for, and has answered or failed to. */
const answered = signal<ReadonlySet<string>>(new Set());

const askDirectory = async (): Promise<void> => {
  const ids = next;
  next = [];
  for (let at = 0; at < ids.length; at += IDS_MAX) {
    const some = ids.slice(at, at + IDS_MAX);
    const answer = await call("GET /v1/directory", { query: { ids: some.join(",") } });
    answered.value = new Set([...answered.value, ...some]);
    if (!answer.ok) continue;
    learnFrom(answer.body);
  }
};

/** The kinds that the directory knows by the prefixes of their ids; a session, say, has no name. */
const isOfDirectory = (id: string): boolean => /^(mem|key|agt|src|end|pol|act)_/.test(id);

/** Members, keys and removed things are in no list that everybody may read; the directory has the names of all. */
const look = (id: string): void => {
  if (askedFor.has(id) || !isOfDirectory(id)) return;
  askedFor.add(id);
  if (next.length === 0) setTimeout(() => void askDirectory());
  next.push(id);
};

const known = (id: string): string | undefined => {
  const own = me.value?.member;
  return names.value.get(id) ?? (own?.id === id ? own.email : undefined);
};

/** Over once the names are read that were asked for at the start; what is drawn before would move when they come. */
export const namesRead = (): Promise<void> => asked ?? Promise.resolve();

/** The names that are known; the first component that asks makes them be read. */
export const useNames = (): ((id: string | null) => string | null) => {
  asked ??= ask();
  // Read here, so that who calls this is drawn anew when names come.
  void names.value;
  return (id) => {
    if (id === null) return null;
    const name = known(id);
    if (name === undefined) look(id);
    return name ?? null;
  };
};

/** False while the name is asked for: what is drawn with it would move when it comes. */
export const isNameSettled = (id: string | undefined): boolean => {
  if (id === undefined || !isOfDirectory(id) || known(id) !== undefined || answered.value.has(id)) return true;
  look(id);
  return false;
};

/** What a filter offers: every thing with the prefix of its ids, such as `end_`. */
export const namesOf = (prefix: string): readonly { readonly value: string; readonly word: string }[] =>
  [...names.value].filter(([id]) => id.startsWith(prefix)).map(([value, word]) => ({ value, word }));
