import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openedSecrets } from "../../../src/keys/opened-secrets.ts";

const test = suite("opened secrets");

const PLACE = { account: "acc_1", stream: "endpoint-end_1", field: "secret" };

const counting = () => {
  const asked: string[] = [];
  const box = openedSecrets({
    open(sealed, { account, stream, field }) {
      asked.push([account, stream, field, sealed].join(" "));
      if (stream !== PLACE.stream) throw new Error("sealed for another place");
      return `plain ${sealed}`;
    },
  });
  return { asked, box };
};

test("a secret is opened once, however often it is asked for", () => {
  const { asked, box } = counting();
  assert.is(box.open("a", PLACE), "plain a");
  assert.is(box.open("a", { ...PLACE }), "plain a");
  assert.is(box.open("b", PLACE), "plain b");
  assert.is(asked.length, 2);
});

test("an opened secret is not given for another place than its own", () => {
  const { box } = counting();
  box.open("a", PLACE);
  assert.throws(() => box.open("a", { ...PLACE, stream: "endpoint-end_2" }), /another place/);
  assert.is(box.open("a", PLACE), "plain a");
});

test.run();
