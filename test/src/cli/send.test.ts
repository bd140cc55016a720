import { suite } from "uvu";
import * as assert from "uvu/assert";
import { nearest } from "../../../domain/did-you-mean.ts";
import { signUp } from "../../support/client.ts";
import { until } from "../../support/program.ts";
import { ran } from "../../support/scripted-service.ts";
import { startService } from "../../support/service-in-memory.ts";

const test = suite("countersign send");

test("sends a sample, lists the types, and tells what was meant", async () => {
  const service = await startService({ SIGNUP_PLAN: "scale" });
  const client = await signUp(service.url);
  const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: client.key };
  const { id, secret } = await client.make("/v1/sources", { name: "shop", type: "stripe" });
  const isListed = (count: number) =>
    until(
      `${count} sources are listed`,
      async () => (await client.call("GET", "/v1/sources")).body.data.length === count,
    );
  await isListed(1);
  const sent = await ran(["send", "--source", "shop", "payment_intent.succeeded"], env);
  assert.is(sent.status, 0, sent.note);
  assert.match(sent.out, /^evt_\w{32} {2}recorded {2}payment_intent\.succeeded {2}\(shop\)$/m);
  for (const text of [sent.out, sent.note]) assert.not(text.includes(client.key) || text.includes(secret));
  const asJson = await ran(["send", "--source", id, "invoice.paid", "--json"], env);
  assert.is(JSON.parse(asJson.out).source_id, id);
  const listed = await ran(["send", "--source", "shop", "--list"], env);
  assert.match(listed.out, /^invoice\.paid$/m);
  const everything = await ran(["send", "--list"], env);
  assert.is(everything.status, 0, everything.note);
  assert.match(everything.out, /^stripe +invoice\.paid$/m);
  assert.match(everything.out, /^github +push$/m);
  const byProvider = JSON.parse((await ran(["send", "--list", "--json"], env)).out);
  assert.ok(byProvider.stripe.includes("invoice.paid"));
  const mistyped = await ran(["send", "--source", "shop", "payment_intent.succeded"], env);
  assert.is(mistyped.status, 1);
  assert.match(mistyped.note, 'Did you mean "payment_intent.succeeded"?');
  const elsewhere = await ran(["send", "--source", "shp", "invoice.paid"], env);
  assert.match(elsewhere.note, 'There is no source "shp". Did you mean "shop"?');
  await client.make("/v1/sources", { name: "shop", type: "github" });
  await isListed(2);
  const both = await ran(["send", "--source", "shop", "push"], env);
  assert.match(both.note, 'Several sources are called "shop"');
  for (const args of [
    ["push"],
    ["push", "--list"],
    ["--source", "shop"],
    ["--source", "shop", "push", "--list"],
    ["--source", "s", "a", "b"],
  ])
    assert.is((await ran(["send", ...args], env)).status, 2, args.join(" "));
  await service.stop();
});

test("a name is suggested only if it is near", () => {
  assert.is(nearest("lisen", ["listen", "status"]), "listen");
  assert.is(nearest("lgoin", ["logout", "login"]), "login");
  assert.is(nearest("sned", ["serve", "send"]), "send");
  assert.is(nearest("dnes", ["send"]), null);
  assert.is(nearest("STATUS", ["listen", "status"]), "status");
  assert.is(nearest("bananas", ["listen", "status"]), null);
  assert.is(nearest("x".repeat(1_000), ["listen"]), null);
  assert.is(nearest("a", []), null);
});

test("an unknown command is an error also with --help, and the nearest is named", async () => {
  for (const args of [["lisen"], ["lisen", "--help"], ["help", "lisen"]]) {
    const { status, out, note } = await ran(args);
    assert.equal([status, out], [2, ""], args.join(" "));
    assert.match(note, 'There is no command "lisen". Did you mean "listen"?');
  }
  const second = await ran(["events", "shw", "--help"]);
  assert.is(second.status, 2);
  assert.match(second.note, 'Did you mean "events show"?');
  const group = await ran(["polices"]);
  assert.match(group.note, 'There is no command "polices". Did you mean "policies"?');
  const option = await ran(["sources", "list", "--limt", "2"]);
  assert.is(option.status, 2);
  assert.match(option.note, 'There is no option "--limt". Did you mean "--limit"?\nusage: countersign sources list');
  const bare = await ran(["sources"]);
  assert.equal([bare.status, bare.note], [2, ""]);
  assert.match(bare.out, "usage: countersign sources create");
  const version = await ran(["--version"]);
  assert.is(version.status, 0);
  assert.match(version.out, /^\d+\.\d+\.\d+$/);
});

test.run();
