import { signal } from "@preact/signals";
import { shortId } from "../../design/format.ts";
import { call } from "./api.ts";
import { namedSentence } from "./holder-words.ts";
import type { Right } from "./roles.ts";

/** Who has each right, by name, as far as it was read. */
const known = signal<ReadonlyMap<Right, readonly string[]>>(new Map());
const asked = new Set<Right>();

const ask = async (right: Right): Promise<void> => {
  const answer = await call("GET /v1/directory", { query: { right } });
  if (!answer.ok) return;
  const all = Object.entries(answer.body).map(([id, { name }]) => ({ id, name: name ?? "a member" }));
  // Two of one name are told apart by their ids.
  const names = all.map(({ id, name }) =>
    all.some((it) => it.id !== id && it.name === name) ? `${name} (${shortId(id)})` : name,
  );
  known.value = new Map([...known.value, [right, names]]);
};

/** "Only an admin or an owner can do this: ben, dev and ana." `sentence` has no full stop; the names follow once they are read. */
export const withHolders = (sentence: string, right: Right): string => {
  if (!asked.has(right)) {
    asked.add(right);
    // Not while a page is drawn.
    setTimeout(() => void ask(right));
  }
  return namedSentence(sentence, known.value.get(right) ?? []);
};
