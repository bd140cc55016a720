import type { JsonObject } from "../../../domain/json.ts";
import { type Answer, INDEXES_MAX, IndexList } from "./answer.ts";
import { Candidates } from "./candidates.ts";
import { type Coverage, judged } from "./coverage.ts";
import { matches, type Period } from "./filter.ts";
import { type Bound, compares, type Kept, kept, keptValue, pointersOfSubject, referred } from "./kept.ts";
import type { Leaf } from "./leaf.ts";
import { isScalar, type Pointer, scalarKey } from "./pointer.ts";
import { type Filter, type Query, SUBJECT } from "./query.ts";
import { type KeyBudget, type Question, Unanswerable } from "./question.ts";

/** How many records one question compares, so that it ends in time if many candidates fit many records. */
const COMPARED_MAX = 50_000_000;

/** How many records an answer shows together with those that they needed. */
const EXAMPLES_MAX = 5;

/** `isWhole`: the export begins at the account's first record. */
export type Terms = { readonly period: Period; readonly keys: KeyBudget; readonly isWhole: boolean };

type EveryQuery = Extract<Query, { ask: "every" }>;

type Found =
  | { readonly outcome: "met"; readonly records: readonly number[] }
  | { readonly outcome: "lacks"; readonly need: string };

/** The need that is being solved, all needs of its alternative, and the records found for earlier ones. */
type Step = { readonly candidates: Candidates; readonly rest: readonly Candidates[]; readonly bound: Bound };

export class EveryQuestion implements Question {
  readonly types: ReadonlySet<string> | null;
  readonly #of: Filter;
  readonly #period: Period;
  readonly #isWhole: boolean;
  readonly #alternatives: readonly (readonly Candidates[])[];
  readonly #all: readonly Candidates[];
  readonly #subjectPointers: readonly Pointer[];
  readonly #indexes = new IndexList();
  readonly #unmetFirst: JsonObject[] = [];
  readonly #examples: JsonObject[] = [];
  #compared = 0;
  #subjects = 0;
  #unmet = 0;

  constructor({ of, anyOf }: EveryQuery, { period, keys, isWhole }: Terms) {
    this.#of = of;
    this.#period = period;
    this.#isWhole = isWhole;
    this.#alternatives = anyOf.map((needs) => needs.map((need) => new Candidates(need, needs, keys)));
    this.#all = this.#alternatives.flat();
    this.#subjectPointers = anyOf.flatMap(pointersOfSubject);
    const types = [of, ...anyOf.flat().map((need) => need.of)].map((it) => it.types);
    this.types = types.includes(null) ? null : new Set(types.flatMap((it) => [...(it ?? [])]));
  }

  /** A record is not its own partner: it is asked about after it ended waits, and before later records can find it. */
  see(leaf: Leaf): void {
    for (const candidates of this.#all) {
      if (candidates.need.when !== "after") continue;
      for (const { subject, found } of candidates.fulfil(leaf, this.#period)) this.#meet(subject, found);
    }
    if (matches(leaf, this.#of, this.#period)) this.#ask(kept(leaf, this.#subjectPointers));
    for (const candidates of this.#all) {
      if (candidates.need.when !== "after") candidates.keep(leaf, this.#period);
    }
  }

  answer(coverage: Coverage): Answer {
    const isLackingForGood = this.#unmet > 0 && this.#isWhole;
    const open = this.#all.flatMap((it) => it.stillWaiting().map(({ subject }) => ({ subject, need: it.need.name })));
    for (const { subject, need } of open.sort((a, b) => a.subject.index - b.subject.index)) this.#lack(subject, need);
    const unmet = this.#unmet;
    const inExport = this.#subjects === 0 ? null : unmet === 0;
    // A record that is missing may lie before the export, and so may one that a subject must not have.
    const needsAll = this.#of.time === "any" || unmet > 0 || this.#all.some(({ need }) => need.orNone);
    const counts = { count: this.#subjects, met: this.#subjects - unmet, unmet };
    return {
      ...judged({ inExport, isFinal: isLackingForGood, needsAll }, coverage),
      unanswered: null,
      result: { ...counts, unmet_first: this.#unmetFirst, examples: this.#examples },
      rests_on: this.#indexes.restsOn(),
    };
  }

  /** The first alternative decides for which all is there that has to come before the subject. */
  #ask(subject: Kept): void {
    this.#subjects += 1;
    const bound = new Map([[SUBJECT, subject]]);
    let lacking = "";
    for (const alternative of this.#alternatives) {
      const found = this.#solve(
        alternative.filter(({ need }) => need.when !== "after"),
        bound,
      );
      if (found.outcome === "met") {
        this.#settle(subject, alternative, found.records);
        return;
      }
      lacking = found.need;
    }
    this.#lack(subject, lacking);
  }

  #settle(subject: Kept, alternative: readonly Candidates[], found: readonly number[]): void {
    const later = alternative.find(({ need }) => need.when === "after");
    if (later === undefined) this.#meet(subject, found);
    else if (!later.wait({ subject, found })) this.#lack(subject, later.need.name);
  }

  #meet({ index }: Kept, found: readonly number[]): void {
    this.#indexes.add(index, found);
    if (this.#examples.length < EXAMPLES_MAX) this.#examples.push({ index, needs: found });
  }

  #lack({ index, recordedAt }: Kept, need: string): void {
    this.#unmet += 1;
    this.#indexes.add(index);
    if (this.#unmetFirst.length < INDEXES_MAX) this.#unmetFirst.push({ index, recorded_at: recordedAt, lacks: need });
  }

  #solve([candidates, ...rest]: readonly Candidates[], bound: Bound): Found {
    if (candidates === undefined) return { outcome: "met", records: [] };
    const { need } = candidates;
    const there = candidates.before(bound);
    this.#compared += there.length + 1;
    if (this.#compared > COMPARED_MAX) {
      throw new Unanswerable(`it would compare more than ${COMPARED_MAX} records (COMPARED_MAX)`);
    }
    if (there.length === 0 && need.orNone) return this.#solve(rest, bound);
    const fitting = there.filter(
      (it) => !candidates.isRefused(it) && need.compare.every((c) => compares(it, c, bound)),
    );
    const step = { candidates, rest, bound };
    return need.count === null ? this.#one(fitting, step) : this.#enough(fitting, step);
  }

  /** Tries the candidates from the last one back, until all further needs are met with one of them. */
  #one(fitting: readonly Kept[], { candidates, rest, bound }: Step): Found {
    const { name } = candidates.need;
    let found: Found = { outcome: "lacks", need: name };
    for (const record of fitting.toReversed()) {
      found = this.#solve(rest, new Map(bound).set(name, record));
      if (found.outcome === "met") return { outcome: "met", records: [record.index, ...found.records] };
    }
    return found;
  }

  #enough(fitting: readonly Kept[], { candidates, rest, bound }: Step): Found {
    const { name, count } = candidates.need;
    const first = new Map<string, number>();
    for (const record of fitting) {
      const value = count === null ? undefined : keptValue(record, count.distinct);
      if (isScalar(value) && !first.has(scalarKey(value))) first.set(scalarKey(value), record.index);
    }
    const wanted = typeof count?.atLeast === "object" ? referred(count.atLeast, bound) : count?.atLeast;
    if (typeof wanted !== "number" || first.size < wanted) return { outcome: "lacks", need: name };
    const found = this.#solve(rest, bound);
    return found.outcome === "met" ? { outcome: "met", records: [...first.values(), ...found.records] } : found;
  }
}
