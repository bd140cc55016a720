import type { Claim, ControlFile } from "../control-file.ts";
import type { Answer } from "./answer.ts";
import { IndexList } from "./answer.ts";
import { budgetQuestion } from "./budgets.ts";
import { countQuestion, distinctQuestion, listQuestion } from "./counting.ts";
import type { Coverage } from "./coverage.ts";
import { EveryQuestion, type Terms } from "./every.ts";
import type { Period } from "./filter.ts";
import type { Leaf } from "./leaf.ts";
import { KeyBudget, type Question, type Room, Unanswerable } from "./question.ts";

/** Records that the joins of all claims may remember together: about 2 GB at worst, about 300 MB as a rule. */
export const KEYS_MAX = 2_000_000;

export type EvaluationTerms = {
  readonly period: Period;
  /** True if the export begins at the account's first record. */
  readonly isWhole: boolean;
  readonly keysMax: number;
};

const questionOf = ({ query, expected }: Claim, terms: Terms): Question => {
  const { period, keys } = terms;
  switch (query.ask) {
    case "count":
      return countQuestion(query, period, expected);
    case "list":
      return listQuestion(query, period, expected);
    case "distinct":
      return distinctQuestion(query, period, { expected, keys });
    case "every":
      return new EveryQuestion(query, terms);
    case "budgets":
      return budgetQuestion(terms);
  }
};

const unanswered = (why: string): Answer => ({
  holds: null,
  in_export: null,
  open: null,
  unanswered: why,
  result: {},
  rests_on: new IndexList().restsOn(),
});

/** One claim's question. Once it is unanswerable it takes no more memory. */
class Asked {
  readonly #keys: KeyBudget;
  #question: Question | null;
  #why = "";

  constructor(claim: Claim, { period, isWhole }: EvaluationTerms, room: Room) {
    this.#keys = new KeyBudget(room);
    this.#question = questionOf(claim, { period, isWhole, keys: this.#keys });
  }

  get types(): ReadonlySet<string> | null {
    return this.#question?.types ?? null;
  }

  see(leaf: Leaf): void {
    try {
      this.#question?.see(leaf);
    } catch (error) {
      if (!(error instanceof Unanswerable)) throw error;
      this.#why = error.message;
      this.#question = null;
      this.#keys.giveAll();
    }
  }

  answer(coverage: Coverage): Answer {
    return this.#question?.answer(coverage) ?? unanswered(this.#why);
  }
}

/** The answers are in the order of the controls and of each control's claims. */
export class Evaluation {
  readonly #claims: readonly Asked[];
  readonly #byType = new Map<string, readonly Asked[]>();

  constructor({ controls }: Pick<ControlFile, "controls">, terms: EvaluationTerms) {
    const room = { left: terms.keysMax, max: terms.keysMax };
    this.#claims = controls.flatMap(({ claims }) => claims.map((claim) => new Asked(claim, terms, room)));
  }

  see(leaf: Leaf): void {
    for (const asked of this.#of(leaf.type)) asked.see(leaf);
  }

  answers(coverage: Coverage): readonly Answer[] {
    return this.#claims.map((it) => it.answer(coverage));
  }

  #of(type: string): readonly Asked[] {
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const asked = this.#claims.filter(({ types }) => types === null || types.has(type));
    // The types are those of an export, which may be anyone's, so there can be any number of them.
    if (this.#byType.size < TYPES_MAX) this.#byType.set(type, asked);
    return asked;
  }
}

const TYPES_MAX = 10_000;
