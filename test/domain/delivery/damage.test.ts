import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bundleDamage } from "../../../domain/bundle/damage.ts";
import { damage, type PayloadName } from "../../../domain/delivery/damage.ts";
import { at, bundleFacts, deliveryFacts, request } from "../../support/history.ts";

const test = suite("the damage of a stored payload");

const FACTS = deliveryFacts("evt_1");
const { payload: NAME } = request();
const found = (name: PayloadName, seconds = 9) =>
  ({ type: "FindDamage", subject: "evt_1", payload: name, at: at(seconds) }) as const;
const RECORD = { type: "PayloadDamageFound", data: { event_id: "evt_1", revision: 0, at: at(9) } } as const;

const decided = (events: Parameters<typeof damage.evolve>[1][], name: PayloadName = NAME): unknown => {
  const decision = damage.decide(found(name), events.reduce(damage.evolve, damage.initial));
  return decision.ok ? decision.events : decision.rejection;
};

test("damage is recorded once for each payload that was decided on", () => {
  assert.equal(decided([FACTS.admitted()]), [RECORD]);
  assert.equal(decided([FACTS.blocked()]), [RECORD]);
  assert.equal(decided([FACTS.held()]), [RECORD]);
  assert.equal(decided([FACTS.admitted(), RECORD]), []);
  const later = { ...NAME, revision: 3 };
  const again = { ...FACTS.admitted(), data: { ...FACTS.admitted().data, payload: later } } as ReturnType<
    typeof FACTS.admitted
  >;
  assert.equal(decided([FACTS.blocked(), RECORD, again], later), [
    { ...RECORD, data: { ...RECORD.data, revision: 3 } },
  ]);
});

test("damage is not recorded under a hash that the stream does not have", () => {
  assert.is(decided([]), "not-decided");
  assert.is(decided([FACTS.admitted()], { ...NAME, commitment: "11" }), "not-decided");
  assert.is(decided([FACTS.admitted()], { ...NAME, revision: 1 }), "not-decided");
});

test("damage of a bundle's own payload is recorded in the bundle's stream", () => {
  const state = [bundleFacts().admitted()].reduce(bundleDamage.evolve, bundleDamage.initial);
  const first = bundleDamage.decide({ ...found(NAME), subject: "bun_1" }, state);
  const record = { type: "BundlePayloadDamageFound", data: { bundle_id: "bun_1", revision: 0, at: at(9) } } as const;
  assert.equal(first.ok && first.events, [record]);
  const second = bundleDamage.decide({ ...found(NAME), subject: "bun_1" }, bundleDamage.evolve(state, record));
  assert.equal(second.ok && second.events, []);
});

test.run();
