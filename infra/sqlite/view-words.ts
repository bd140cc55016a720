import { comparableText } from "../view-schema.ts";
import type { Database } from "./driver.ts";

/** A word and its number. Rows are never changed or removed, so what was read once stays true on any connection. */
export const WORDS = "CREATE TABLE IF NOT EXISTS words (n INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE)";

/** As a value in SQL; NULL, which equals nothing, for a word without a number. */
export const NUMBER_OF_WORD = "(SELECT n FROM words WHERE word = ?)";

/** Each is an id, a status or the name of a type. */
const REMEMBERED_MAX = 20_000;

export type Words = {
  /** Numbers a new word, so it needs a transaction. */
  numberOf(text: string): number;
  wordOf(number: number): string;
  /** After a rollback other words may get the numbers that were given in the transaction. */
  forget(): void;
};

/** Words are looked up for each value that is written, where a cache that keeps their order would cost more than it saves. */
const remember = <K, V>(known: Map<K, V>, key: K, value: V): void => {
  if (known.size >= REMEMBERED_MAX) known.clear();
  known.set(key, value);
};

export const viewWords = (database: Database): Words => {
  const numbers = new Map<string, number>();
  const words = new Map<number, string>();
  const statementOf = (sql: string) => {
    let prepared: ReturnType<Database["prepare"]> | undefined;
    return () => {
      prepared ??= database.prepare(sql);
      return prepared;
    };
  };
  const find = statementOf("SELECT n FROM words WHERE word = ?");
  const add = statementOf("INSERT INTO words (word) VALUES (?)");
  const read = statementOf("SELECT word FROM words WHERE n = ?");

  return {
    numberOf(text) {
      const known = numbers.get(text);
      if (known !== undefined) return known;
      const word = comparableText(text);
      const number = Number(find().get(word)?.n ?? add().run(word).lastInsertRowid);
      remember(numbers, text, number);
      return number;
    },
    wordOf(number) {
      const known = words.get(number);
      if (known !== undefined) return known;
      const word = read().get(number)?.word;
      if (word === undefined) throw new Error(`the views have no word ${number}`);
      remember(words, number, String(word));
      return String(word);
    },
    forget() {
      numbers.clear();
      words.clear();
    },
  };
};
