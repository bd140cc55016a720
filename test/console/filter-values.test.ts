import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Filter, faultOf, faultsOf, wordsOf } from "../../console/design/filter-values.ts";
import { timeFilter } from "../../console/src/pages/ranges.ts";
import { placeOfUrl } from "../../console/src/shell/addresses.ts";

const test = suite("values of filters in an address");
const LONG = "x".repeat(513);
const CLOCK = { zone: "UTC", now: Date.parse("2026-11-29T12:00:00Z") };

const STATE: Filter = {
  ...{ name: "status", label: "State", expects: "Choose a state from the list.", isSeveral: true },
  choices: [
    { value: "failed", word: "Failed" },
    { value: "held", word: "Held" },
  ],
};
/** One choice that stands for several values of the API. */
const OUTCOME: Filter = {
  ...{ name: "status", label: "State", expects: "Choose a state from the list." },
  choices: [
    { value: "approved,consumed", word: "Approved" },
    { value: "rejected", word: "Rejected" },
  ],
};
const SOURCE: Filter = { name: "source_id", label: "Source", choices: [], expects: null };
const queryOf = (search: string) => placeOfUrl(new URL(`https://shop.example/events${search}`)).query;

test("a value that is empty says nothing, and a name that stands several times has all its values", () => {
  assert.equal(queryOf("?status=&q=%20"), { q: " " });
  assert.equal(queryOf("?status=failed&status=held&status=failed&status="), { status: "failed,held" });
});

for (const [filter, search, fault] of [
  [STATE, "?status=failed", null],
  [STATE, "?status=failed&status=held", null],
  [STATE, "?status=nope", STATE.expects],
  [STATE, "?status=failed,nope", STATE.expects],
  [STATE, "?status=failed,failed", STATE.expects],
  [STATE, `?status=${LONG}`, STATE.expects],
  [OUTCOME, "?status=approved,consumed", null],
  [OUTCOME, "?status=approved", null],
  [OUTCOME, "?status=approved,rejected", OUTCOME.expects],
  [SOURCE, "?source_id=anything", null],
  [SOURCE, `?source_id=${LONG}`, "Write at most 512 characters."],
  [timeFilter("When"), "?range=24h", null],
  [timeFilter("When"), "?range=5y", "Choose one of 1 h, 24 h, 7 d and 30 d."],
  [timeFilter("When"), "?range=24h&range=7d", "Choose one of 1 h, 24 h, 7 d and 30 d."],
  [timeFilter("When"), "?from=2026-11-17T13:00:00Z", null],
  [timeFilter("When"), "?to=2026-11-17T13:00:00Z", null],
  [timeFilter("When"), "?from=2026-11-17", "Write a time with its zone, such as 2026-11-17T13:00:00Z."],
  [timeFilter("When"), "?to=2026-11-17T25:00:00Z", "Write a time with its zone, such as 2026-11-17T13:00:00Z."],
  [
    timeFilter("When"),
    "?from=2026-11-17T13:00:00Z&to=2026-11-17T13:00:00Z",
    "The end has to come after the beginning.",
  ],
  [timeFilter("When"), "?from=2026-11-17T13:00:00Z&to=2026-11-17T13:00:01Z", null],
  [
    timeFilter("When"),
    "?from=2026-11-17T13:00:00Z&to=2026-11-17T13:30:00%2B01:00",
    "The end has to come after the beginning.",
  ],
  [timeFilter("When"), "?range=24h&to=2026-11-17T13:00:00Z", "Choose a range or two moments, not both."],
] as const)
  test(`${filter.label} in ${search.slice(0, 80)}: ${fault ?? "taken"}`, () =>
    assert.is(faultOf(filter, queryOf(search)), fault));

test("all faults of an address are told, each once, with that of the search", () => {
  const values = queryOf(`?status=nope&source_id=${LONG}&q=${LONG}`);
  assert.equal(faultsOf([STATE, SOURCE], values), [STATE.expects, "Write at most 512 characters."]);
  assert.equal(faultsOf([STATE, SOURCE], {}), []);
});

test("a chip shows the beginning of what is too long", () => {
  assert.is(wordsOf(SOURCE, { source_id: LONG }, CLOCK), `${"x".repeat(80)}…`);
});

test.run();
