import { suite } from "uvu";
import * as assert from "uvu/assert";
import { NO_ORDER, sendOrder } from "../../../infra/eventstoredb/send-order.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";

const test = suite("the order in which appends are sent");

const named =
  (name: string, sent: string[], answer: () => void = () => {}) =>
  async (): Promise<string> => {
    sent.push(name);
    answer();
    return name;
  };
const lost = (): void => {
  throw new Error("the connection was lost");
};
/** Everything that can go on without a timer has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("appends that begin together are sent at once, in their order", async () => {
  const order = sendOrder();
  const sent: string[] = [];
  const [first, second] = [order.begin(), order.begin()];
  const both = [first.take(named("first", sent)), second.take(named("second", sent))];
  assert.equal(sent, ["first", "second"]);
  assert.equal(await Promise.all(both), ["first", "second"]);
});

test("after a lost connection a later append waits until each earlier one was sent again", async () => {
  const order = sendOrder();
  const sent: string[] = [];
  const [first, second, third] = [order.begin(), order.begin(), order.begin()];
  const broken = [first, second].map((turn) => turn.take(named("lost", [], lost)).catch(() => turn.again()));
  await Promise.all(broken);
  const later = [third.take(named("third", sent)), second.take(named("second", sent))];
  await settled();
  assert.equal(sent, []);
  await first.take(named("first", sent));
  await Promise.all(later);
  assert.equal(sent, ["first", "second", "third"]);
});

test("what began before an append failed for good is not sent after it, and what begins later is", async () => {
  const order = sendOrder();
  const sent: string[] = [];
  const [first, second, third] = [order.begin(), order.begin(), order.begin()];
  await first.take(named("lost", [], lost)).catch(() => {});
  first.again();
  const refused = [second.take(named("second", sent)), third.take(named("third", sent))].map((it) =>
    it.then(
      () => null,
      (error: unknown) => error,
    ),
  );
  first.giveUp();
  for (const error of await Promise.all(refused)) assert.instance(error, LogUnavailable);
  await order.begin().take(named("fourth", sent));
  assert.equal(sent, ["fourth"]);
});

test("without an order each append is sent when it is ready", async () => {
  const sent: string[] = [];
  const [first, second] = [NO_ORDER.begin(), NO_ORDER.begin()];
  first.again();
  await second.take(named("second", sent));
  await first.take(named("first", sent));
  assert.equal(sent, ["second", "first"]);
});

test.run();
