import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dayLedger } from "../../../src/ledgers/policy-days.ts";
import { pausedLog } from "../../support/paused-log.ts";
import { ACCOUNT, claimNode, claimsWorld, POLICY_ID, webhookId } from "../../support/webhook-claims.ts";

const test = suite("places of requests that died");
const AT = "2026-05-05T12:00:00.000Z";
const LEDGER = dayLedger(POLICY_ID, "2026-05-05");
const TEN_EUR = { cost: 10 };

/** A node dies with a webhook of 10 EUR between its place in the ledger and its verdict. */
const withDeadRequest = async () => {
  const world = await claimsWorld(AT, { budget_eur_day: 10 });
  const dying = pausedLog(world.log, "EventAdmitted");
  void claimNode(world, { log: dying.log }).send("first", TEN_EUR);
  await dying.reached;
  return world;
};

test("a node that is slow to give back a dead request's place leaves the place of the sender's repeat", async () => {
  const world = await withDeadRequest();
  const slowToRelease = pausedLog(world.log, "Released");
  const slowToClaim = pausedLog(world.log, "EventAdmitted");
  const slow = claimNode(world, { log: slowToRelease.log });
  const quick = claimNode(world, { log: slowToClaim.log });
  world.clock.ms += 31_000;
  const released = slow.ledgers.figures(LEDGER, ACCOUNT);
  await slowToRelease.reached;
  assert.is((await quick.ledgers.figures(LEDGER, ACCOUNT)).open, 0);

  const repeat = quick.send("first", TEN_EUR, true);
  await slowToClaim.reached;
  slowToRelease.goOn();
  assert.is((await released).reserved, 10_000_000);
  slowToClaim.goOn();
  assert.is((await repeat).outcome, "claimed");

  for (const key of ["second", "third"]) assert.is((await claimNode(world).send(key, TEN_EUR)).outcome, "denied");
});

test("a request whose place was given back as it was so slow gives back no place of the sender's repeat", async () => {
  const world = await claimsWorld(AT, { budget_eur_day: 10 });
  const slowToClaim = pausedLog(world.log, "EventAdmitted");
  const fenced = claimNode(world, { log: slowToClaim.log }).send("first", TEN_EUR);
  await slowToClaim.reached;
  const quick = claimNode(world);
  await quick.ledgers.resolve(LEDGER, ACCOUNT, webhookId("first"));
  assert.is((await quick.ledgers.figures(LEDGER, ACCOUNT)).open, 0);

  const pausedRepeat = pausedLog(world.log, "EventAdmitted");
  const repeat = claimNode(world, { log: pausedRepeat.log }).send("first", TEN_EUR, true);
  await pausedRepeat.reached;
  slowToClaim.goOn();
  assert.is((await fenced).outcome, "claimed");
  pausedRepeat.goOn();
  assert.is((await repeat).outcome, "taken");
  await quick.ledgers.idle();
  const { open, reserved, settled } = await quick.ledgers.figures(LEDGER, ACCOUNT);
  assert.equal([open, reserved, settled], [0, 0, 10_000_000]);
  assert.is((await quick.send("second", TEN_EUR)).outcome, "denied");
});

test.run();
