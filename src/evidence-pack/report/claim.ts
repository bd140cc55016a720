import type { Json, JsonObject } from "../../../domain/json.ts";
import type { ClaimFinding } from "../findings.ts";
import { type Html, html, NOTHING, time } from "./html.ts";

/** The mark is a sign and a word, so that no meaning is in the colour alone. */
type State = { readonly look: "ok" | "fail" | "wait" | "info"; readonly sign: string; readonly word: string };

const numberIn = (result: JsonObject, name: string): number => (typeof result[name] === "number" ? result[name] : 0);

/** The cast is safe, because the findings are what `findingsOf` has computed. */
const rowsIn = (result: JsonObject, name: string): readonly JsonObject[] =>
  (result[name] ?? []) as readonly JsonObject[];

export const stateOf = ({ holds, in_export, open, unanswered, result, query }: ClaimFinding): State => {
  if (unanswered !== null) return { look: "wait", sign: "?", word: "Not answered" };
  if (holds === true) return { look: "ok", sign: "✓", word: "Holds" };
  if (holds === false) return { look: "fail", sign: "✕", word: "Does not hold" };
  if (numberIn(result, "unmet") > 0 || in_export !== null) return { look: "wait", sign: "?", word: "Open" };
  const ask = (query as JsonObject).ask; // A claim of a valid control file has a query that is an object.
  if (ask === "every" || ask === "budgets") {
    if (open !== null) return { look: "wait", sign: "?", word: "Open" };
    return { look: "info", sign: "○", word: "Nothing to check" };
  }
  return { look: "info", sign: "○", word: "For information" };
};

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
/** Longer words, such as ids, are broken within a cell; a shorter one that is broken is hard to read. */
const WORD_LENGTH_MAX = 24;

const cell = (value: Json | undefined): Html => {
  if (value === undefined || value === null) return html`<span class="quiet">–</span>`;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (ISO_TIME.test(text)) return time(text);
  return text.length > WORD_LENGTH_MAX ? html`<span class="long">${text}</span>` : html`${text}`;
};

type Table = {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly (Json | undefined)[])[];
};

const table = ({ caption, head, rows }: Table): Html =>
  rows.length === 0
    ? NOTHING
    : html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${head.map((it) => html`<th scope="col">${it}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map((value) => html`<td>${cell(value)}</td>`)}</tr>`)}</tbody></table></div>`;

const listed = (result: JsonObject): Html => {
  const rows = rowsIn(result, "rows");
  const labels = (result.labels ?? []) as readonly string[]; // As `rowsIn`.
  const count = numberIn(result, "count");
  const caption = rows.length === count ? plural(count, "record") : `The first ${rows.length} of ${count} records`;
  return html`${table({
    caption,
    head: ["record", "recorded at (operator's clock)", "type", ...labels],
    rows: rows.map((row) => [row.index, row.recorded_at, row.type, ...((row.values ?? []) as readonly Json[])]),
  })}${count === 0 ? html`<p>There are none.</p>` : NOTHING}`;
};

const distinct = (result: JsonObject): Html => {
  const rows = rowsIn(result, "values");
  const [count, different] = [numberIn(result, "count"), numberIn(result, "different")];
  if (count === 0) return html`<p>There are no such records.</p>`;
  return table({
    caption: `${plural(count, "record")} with ${plural(different, "different value")}${rows.length < different ? `, the ${rows.length} most frequent` : ""}`,
    head: ["value", "records", "first record"],
    rows: rows.map(({ value, count: records, first_index }) => [value, records, first_index]),
  });
};

const every = (result: JsonObject): Html => {
  const [count, unmet] = [numberIn(result, "count"), numberIn(result, "unmet")];
  const rows = rowsIn(result, "unmet_first");
  if (count === 0) return html`<p>The export has no record of the period that this claim is about.</p>`;
  return html`<p>${unmet === 0 ? (count === 1 ? "True of the only record." : `True of all ${count} records.`) : `True of ${count - unmet} of ${plural(count, "record")}.`}</p>${table(
    {
      caption:
        rows.length < unmet ? `The first ${rows.length} of ${unmet} for which it is not so` : "For these it is not so",
      head: ["record", "recorded at (operator's clock)", "what was not found"],
      rows: rows.map(({ index, recorded_at, lacks }) => [index, recorded_at, lacks]),
    },
  )}`;
};

const EUR = 1_000_000;

const eur = (value: Json | undefined): string => `${(Number(value) / EUR).toFixed(2)} EUR`;

const budgets = (result: JsonObject): Html => {
  const [count, ledgers, cut] = [
    numberIn(result, "count"),
    numberIn(result, "ledgers"),
    numberIn(result, "not_followed"),
  ];
  return html`<p>${plural(count, "record")} of reservations in ${plural(ledgers, "ledger")} of a policy and day${cut > 0 ? `; ${plural(cut, "ledger")} that began before the export could not be added up` : ""}.</p>${table(
    {
      caption: "Beyond the budget",
      head: ["record", "policy", "day", "reserved and spent", "budget"],
      rows: rowsIn(result, "over_first").map(({ index, policy, day, used_micro_eur, limit_micro_eur }) => [
        ...[index, policy, day, eur(used_micro_eur), eur(limit_micro_eur)],
      ]),
    },
  )}${table({
    caption: "Costs that receivers reported beyond what was reserved, which no gate could know",
    head: ["policy", "day", "beyond the reservation"],
    rows: rowsIn(result, "overrun_first").map(({ policy, day, micro_eur }) => [policy, day, eur(micro_eur)]),
  })}`;
};

const resultOf = (claim: ClaimFinding): Html => {
  const { result, unanswered } = claim;
  if (unanswered !== null) return html`<p>This question was not answered: ${unanswered}.</p>`;
  switch ((claim.query as JsonObject).ask) {
    case "count":
      return html`<p>${plural(numberIn(result, "count"), "record")}.</p>`;
    case "distinct":
      return distinct(result);
    case "list":
      return listed(result);
    case "every":
      return every(result);
    default:
      return budgets(result);
  }
};

const restsOn = ({ rests_on: { records, first, last, indexes } }: ClaimFinding): Html => {
  if (records === 0) return html`<p class="meta">Rests on the export as a whole, which has no such record.</p>`;
  if (indexes.length === records)
    return html`<p class="meta">Rests on ${plural(records, "record")}: ${indexes.join(", ")}.</p>`;
  return html`<p class="meta">Rests on ${plural(records, "record")} between ${first} and ${last}, the first of them ${indexes.join(", ")}.</p>`;
};

/** What the export does not cover, so that nobody takes the answer for one about the whole period. */
const openHtml = ({ open, in_export }: ClaimFinding): Html => {
  if (open === null) return NOTHING;
  const asFar = in_export === true ? " It is true of the records in the export." : "";
  return html`<p><b>About the records in the export alone:</b> ${open}.${asFar}</p>`;
};

export const claimHtml = (claim: ClaimFinding): Html => {
  const { look, sign, word } = stateOf(claim);
  return html`<article class="claim ${look}"><header><h3>${claim.statement}</h3><span class="st ${look}"><span aria-hidden="true">${sign}</span> ${word}</span></header>${resultOf(claim)}${openHtml(claim)}${restsOn(claim)}<details><summary>The query</summary><pre>${JSON.stringify(claim.query, null, 1)}</pre></details></article>`;
};
