import { suite } from "uvu";
import { erasure } from "../../../domain/delivery/erasure.ts";
import { specFor } from "../../support/given.ts";
import { at, deliveryFacts } from "../../support/history.ts";

const given = specFor(erasure);
const test = suite("erasure of a payload");
const is = deliveryFacts();
const erase = { type: "ErasePayload", eventId: "evt_1", reason: "asked for", at: at(20) } as const;

test("what was decided is erased, also while it is held and when nothing came of it", () => {
  for (const past of [
    [is.blocked()],
    [is.admitted()],
    [is.held()],
    [is.held(), is.holdEnded(5, "rejected")],
    [is.held(), is.released(5)],
  ])
    given(...past)
      .when(erase)
      .then(is.erased(20));
  given().when(erase).rejects("absent");
});

test("not during an attempt, and once", () => {
  given(is.held(), is.released(5), is.started(1, 6)).when(erase).rejects("under-way");
  given(is.held(), is.erased(10)).when(erase).thenNothing();
});

test.run();
