import { LRUCache } from "lru-cache";
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

export const viewWords = (database: Database): Words => {
  const numbers = new LRUCache<string, number>({ max: REMEMBERED_MAX });
  const words = new LRUCache<number, string>({ max: REMEMBERED_MAX });
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
      numbers.set(text, number);
      return number;
    },
    wordOf(number) {
      const known = words.get(number);
      if (known !== undefined) return known;
      const word = read().get(number)?.word;
      if (word === undefined) throw new Error(`the views have no word ${number}`);
      words.set(number, String(word));
      return String(word);
    },
    forget() {
      numbers.clear();
      words.clear();
    },
  };
};
