import { suite } from "uvu";
import { type PreferencesEvent, preferences, type SetPreferences } from "../../../domain/account/preferences.ts";
import { specFor } from "../../support/given.ts";
import { at } from "../../support/history.ts";

const test = suite("preferences");
const given = specFor(preferences);
const NONE = { personal: null, shared: null };

const set = (memberId: string, scheme: "light" | "dark", version: number | null): SetPreferences => ({
  ...{ account: "acc_1", memberId, version, at: at(1) },
  preferences: { settings: { scheme, density: "compact", letters: true }, ...NONE },
});
const was = (member_id: string, scheme: "light" | "dark", version: number): PreferencesEvent => ({
  type: "PreferencesSet",
  data: {
    ...{ account: "acc_1", member_id, version, at: at(1), ...NONE },
    settings: { scheme, density: "compact", letters: true },
  },
});

test("each member has a version of their own, and the same again is no record", () => {
  given()
    .when(set("mem_1", "dark", 0))
    .then(was("mem_1", "dark", 1));
  given(was("mem_1", "dark", 1))
    .when(set("mem_2", "light", 0))
    .then(was("mem_2", "light", 1));
  given(was("mem_1", "dark", 1))
    .when(set("mem_1", "dark", 1))
    .thenNothing();
});

test("a change that did not see the last one is refused, unless it replaces any", () => {
  const before = [was("mem_1", "dark", 1), was("mem_1", "light", 2)];
  given(...before)
    .when(set("mem_1", "dark", 1))
    .rejects("changed");
  given(...before)
    .when(set("mem_1", "dark", null))
    .then(was("mem_1", "dark", 3));
  given(...before)
    .when(set("mem_1", "dark", 2))
    .then(was("mem_1", "dark", 3));
});

test.run();
