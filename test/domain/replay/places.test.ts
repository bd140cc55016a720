import { suite } from "uvu";
import { type ReplayPlace, type ReplayPlaceEvent, RUNNING_MAX, replayPlaces } from "../../../domain/replay/places.ts";
import { specFor } from "../../support/given.ts";
import { at } from "../../support/history.ts";

const given = specFor(replayPlaces);
const place = (number: number, replay_id = `rpl_${number}`): ReplayPlace => ({ replay_id, number, at: at(number) });
const taken = (...places: readonly ReplayPlace[]): ReplayPlaceEvent => ({
  type: "ReplayPlaceTaken",
  data: { ...(places.at(-1) ?? place(0)), places },
});
const take = (number: number, free: readonly ReplayPlace[] = [], replayId = `rpl_${number}`) => ({
  replayId,
  free,
  at: at(number),
});
const all = Array.from({ length: RUNNING_MAX }, (_, n) => place(n + 1));

const test = suite("places of replays");

test("a place is taken with the next number", () => {
  given()
    .when(take(1))
    .then(taken(place(1)));
  given(taken(place(1)))
    .when(take(2))
    .then(taken(place(1), place(2)));
});
test("when all are taken, a place is only taken together with giving a free one back", () => {
  given(taken(...all))
    .when(take(21))
    .rejects("full");
  given(taken(...all))
    .when(take(21, [place(3), place(4)]))
    .then(taken(...all.filter(({ number }) => number !== 3 && number !== 4), place(21)));
});
test("a place that was replaced meanwhile is not given back by its old number", () => {
  const replaced = [...all.slice(1), place(21, "rpl_1")];
  given(taken(...replaced))
    .when(take(22, [place(1)]))
    .rejects("full");
});
test("the same replay takes no second place", () => {
  given(taken(...all))
    .when(take(21, [], "rpl_1"))
    .then(taken(...all.slice(1), place(21, "rpl_1")));
});

test.run();
