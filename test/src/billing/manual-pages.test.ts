import { suite } from "uvu";
import * as assert from "uvu/assert";
import { monthEnd } from "../../../domain/calendar.ts";
import { links } from "../../../infra/billing/manual/links.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { secretBox } from "../../../infra/crypto/secret-box.ts";
import { ACCOUNT, billingWorld, browser, formsOf, linksOf } from "../../support/billing-world.ts";
import { bearer, OWNER, PUBLIC_URL } from "../../support/http-app.ts";
import { CLIENT } from "../../support/members.ts";
import { addressed } from "../../support/personal-words.ts";

const test = suite("hosted pages of the manual provider");
const SUCCESS = "https://shop.example/done?x=1";
const CANCEL = "https://shop.example/back";
const HOUR_MS = 3_600_000;

test("a confirmed checkout changes the plan at once, and the page moves on to the given address", async () => {
  const world = await billingWorld();
  const go = browser(world);
  const started = await world.start("core", { success_url: SUCCESS, cancel_url: CANCEL });
  assert.is(started.status, 200);
  assert.equal(started.body.notices, []);
  assert.is(Date.parse(started.body.expires_at), world.clock.now() + HOUR_MS);
  assert.match(started.body.checkout_url, new RegExp(`^${PUBLIC_URL}/billing/checkout/acc_a\\.[\\w-]+$`));

  const page = await go.get(started.body.checkout_url);
  assert.is(page.status, 200);
  assert.equal(linksOf(page), [CANCEL]);
  assert.is(await world.plan(), "free", "looking at it changes nothing");
  const done = await go.press(page, "Confirm core");
  assert.is(done.status, 200);
  assert.equal(linksOf(done), [SUCCESS]);
  assert.match(done.html, `<meta http-equiv="refresh" content="3; url=${SUCCESS}">`);

  const summary = await world.summary();
  assert.equal([summary.plan, summary.price_eur_month, summary.provider], ["core", 49, "manual"]);
  const { body } = await world.session("GET", "/v1/capabilities");
  assert.equal(
    [body.limits.events_per_month, body.limits.endpoints, body.limits.api_rate_per_minute],
    [100_000, 20, 3_000],
  );
});

test("a name with characters that reorder text is shown with their escapes", async () => {
  const world = await billingWorld({ name: "shop\u202e.eerf si tI\u2066" });
  const { html } = await browser(world).get((await world.portal()).body.portal_url);
  assert.match(html, "shop\\u202e.eerf si tI\\u2066");
  assert.not.match(html, /[\p{Cf}]/u);
});

test("confirmed twice is confirmed once, also when the plan has changed meanwhile; the page says that it is used", async () => {
  const world = await billingWorld();
  const go = browser(world);
  const { body } = await world.start("core", { success_url: SUCCESS });
  const page = await go.get(body.checkout_url);
  const confirm = formsOf(page)["Confirm core"] ?? "";
  await Promise.all([go.send(confirm), go.send(confirm), go.send(confirm)]);
  const portal = await go.get((await world.portal()).body.portal_url);
  await go.press(portal, "Cancel the plan");
  const again = await go.send(confirm);
  assert.is(again.status, 200);
  assert.match(again.html, "This checkout was confirmed");
  const used = await go.get(body.checkout_url);
  assert.equal([Object.keys(formsOf(used)), linksOf(used)], [[], [SUCCESS]]);
  assert.not.match(used.html, "http-equiv");
  assert.equal((await world.typesOf()).slice(2), ["PlanChanged", "DowngradeScheduled"]);
  assert.is((await world.subscriptionOf()).scheduled?.plan, "free");
});

test("the portal cancels at the end of the month that is paid for; then the plan is the free one, without a timer", async () => {
  const world = await billingWorld({ plan: "scale" });
  const go = browser(world);
  const { status, body } = await world.portal({ return_url: CANCEL });
  assert.is(status, 200);
  const portal = await go.get(body.portal_url);
  assert.equal(linksOf(portal), [CANCEL]);
  assert.equal(Object.keys(formsOf(portal)).sort(), ["Cancel the plan", "Change to core", "Change to starter"]);
  const cancelled = await go.press(portal, "Cancel the plan");
  assert.match(cancelled.html, "until 2026-04-01, and then free");
  const summary = await world.summary();
  assert.equal(summary.scheduled_change, { plan: "free", from: "2026-04-01T00:00:00.000Z" });
  assert.is(summary.plan, "scale");

  world.clock.advance(monthEnd(world.clock.now()) - world.clock.now() - 1);
  assert.is(await world.plan(), "scale");
  world.clock.advance(1);
  assert.is(await world.plan(), "free");
  const after = await world.summary();
  assert.equal([after.plan, after.scheduled_change, after.estimated_total_eur], ["free", null, 0]);
});

test("a scheduled change can be cancelled and scheduled again in one visit; each form takes effect once", async () => {
  const world = await billingWorld({ plan: "core" });
  const go = browser(world);
  let page = await go.get((await world.portal()).body.portal_url);
  page = await go.press(page, "Change to starter");
  assert.ok(formsOf(page)["Keep core"]);
  page = await go.press(page, "Keep core");
  assert.is((await world.subscriptionOf()).scheduled, null);
  const form = formsOf(page)["Change to starter"] ?? "";
  await go.send(form);
  page = await go.send(form);
  assert.is((await world.subscriptionOf()).scheduled?.plan, "starter");
  await go.press(page, "Change to scale");
  assert.equal([await world.plan(), (await world.subscriptionOf()).scheduled], ["scale", null]);
  assert.equal((await world.typesOf()).slice(2), [
    "DowngradeScheduled",
    "DowngradeCancelled",
    "DowngradeScheduled",
    "PlanChanged",
  ]);
});

test("a form of a page that is old changes nothing, and shows the page as it is now", async () => {
  const world = await billingWorld({ plan: "core" });
  const go = browser(world);
  const portal = await go.get((await world.portal()).body.portal_url);
  const [free, scale] = [formsOf(portal)["Cancel the plan"] ?? "", formsOf(portal)["Change to scale"] ?? ""];
  const cancelled = await go.send(free);
  await go.press(cancelled, "Keep core");
  const before = await world.typesOf();
  // The other tab, and the button behind "back".
  const old = await go.send(scale);
  assert.is(old.status, 409);
  assert.match(old.html, "This page was outdated, and nothing was changed. It now shows the current plan.");
  assert.is((await go.send(free)).status, 200, "sent twice it is one wish, which was done");
  assert.equal([await world.plan(), (await world.subscriptionOf()).scheduled], ["core", null]);
  assert.equal(await world.typesOf(), before);
  await go.press(old, "Change to scale");
  assert.is(await world.plan(), "scale");
});

test("a change that takes effect in time outdates a page; two forms of one page at once are one change", async () => {
  const world = await billingWorld({ plan: "core" });
  const go = browser(world);
  world.clock.advance(monthEnd(world.clock.now()) - world.clock.now() - 60_000);
  const cancelled = await go.press(await go.get((await world.portal()).body.portal_url), "Cancel the plan");
  world.clock.advance(60_000);
  assert.is((await go.press(cancelled, "Keep core")).status, 409);
  assert.is(await world.plan(), "free");
  const page = await go.get(cancelled.url);
  const both = await Promise.all(["Change to core", "Change to scale"].map((text) => go.press(page, text)));
  assert.equal(both.map(({ status }) => status).sort(), [200, 409]);
});

test("a plan that keeps payloads for fewer days says which, in the answer and on the pages", async () => {
  const world = await billingWorld({ plan: "core" });
  const { body } = await world.start("starter");
  const sentence =
    "Payloads of what ends from then on are kept for 14 days instead of 30. What has ended by then is kept as long as before.";
  assert.equal(body.notices, [sentence]);
  const go = browser(world);
  assert.match((await go.get(body.checkout_url)).html, sentence);
  const portal = await go.get((await world.portal()).body.portal_url);
  for (const days of [3, 14]) assert.match(portal.html, `from then on are kept for ${days} days instead of 30`);
  assert.not.match(portal.html, "90 days instead");
  const cancelled = await go.press(portal, "Cancel the plan");
  assert.match(cancelled.html, "from then on are kept for 3 days instead of 30");
  assert.equal((await world.start("scale")).body.notices, []);
});

test("the answer and the pages say in numbers that more is in use than a smaller plan includes", async () => {
  const world = await billingWorld({ plan: "core" });
  await world.haveSources(11);
  const { body } = await world.start("starter");
  const sentence =
    "11 sources are in use and the plan starter includes 5: all 11 go on, and a new one can be made once fewer than 5 are left.";
  assert.equal(body.notices[0], sentence);
  const go = browser(world);
  const page = await go.get(body.checkout_url);
  assert.match(page.html, sentence);
  assert.match(page.html, "the plan stays core: the change takes effect on 2026-04-01");
  assert.match((await go.get((await world.portal()).body.portal_url)).html, sentence);
});

test("a checkout of the scheduled plan has nothing to confirm, and a checkout of the current plan leads to the portal", async () => {
  const world = await billingWorld({ plan: "core" });
  const go = browser(world);
  const [one, other] = [await world.start("starter"), await world.start("starter")];
  await go.press(await go.get(one.body.checkout_url), "Confirm starter");
  assert.match((await go.get(other.body.checkout_url)).html, "Nothing to do");
  const same = await world.start("core");
  assert.equal([same.status, same.body.detail.includes("in the portal")], [409, true]);
});

test("a link that has expired, was changed, is another page's or another service's leads nowhere", async () => {
  const world = await billingWorld();
  const go = browser(world);
  const { body } = await world.start("core");
  const url: string = body.checkout_url;
  const confirm = `${url}/confirm`;
  const other = links(secretBox(Buffer.alloc(32, 9), randomness));
  const about = { account: ACCOUNT, session: "cos_x", by: OWNER.id, plan: "scale", doneUrl: null, leaveUrl: null };
  const foreign = other.seal({ kind: "checkout", ...about, expiresAt: "2027-01-01T00:00:00.000Z" });
  const wrong = [
    `${url.slice(0, -1)}${url.endsWith("A") ? "B" : "A"}`,
    url.replace("acc_a.", "acc_b."),
    url.replace("/checkout/", "/portal/"),
    `${PUBLIC_URL}/billing/checkout/${foreign}`,
    `${PUBLIC_URL}/billing/checkout/`,
    `${PUBLIC_URL}/billing/checkout/acc_a.`,
    `${PUBLIC_URL}/billing/checkout/%00`,
  ];
  for (const address of wrong) {
    assert.is((await go.get(address)).status, 404, address);
    assert.is((await go.send(`${address}/confirm`)).status, 404, address);
  }
  for (const path of ["", "/", "/other", "/confirm/", "/confirm/more", "%2Fconfirm"])
    assert.is((await go.send(url + path)).status, 404, path);
  for (const path of ["/", "/x", "/confirm", "/done/", "/done/x", "%2Fdone", "%2F"])
    assert.is((await go.get(url + path)).status, 404, path);
  assert.is((await go.get(`${url}/done?x=1`)).status, 200);
  const portal: string = (await world.portal()).body.portal_url;
  for (const path of ["/gold/1", "/core/x", "/core", "/core/1/2"])
    assert.is((await go.send(portal + path)).status, 404);

  world.clock.advance(HOUR_MS);
  for (const shown of [await go.get(url), await go.send(confirm), await go.get(portal)]) {
    assert.is(shown.status, 410);
    assert.match(shown.html, "This link has expired");
  }
  assert.is(await world.plan(), "free");
});

test("a link ends with the rights of whom it was given to", async () => {
  const world = await billingWorld();
  const go = browser(world);
  const { body } = await world.start("core");
  const at = world.now();
  const link = { mac: "", expires_at: "9999-12-31T23:59:59.999Z", by: { kind: "system", id: "test" } } as const;
  await world.command({
    type: "InviteMember",
    member: "mem_b",
    ...addressed("ben@a.example"),
    role: "owner",
    grant: "",
    ...link,
    at,
  });
  await world.command({ type: "AcceptInvitation", member: "mem_b", password: "", client: CLIENT, at });
  await world.command({ type: "RemoveMember", member: OWNER.id, by: link.by, at });
  assert.is((await go.send(`${body.checkout_url}/confirm`)).status, 410);
  assert.is(await world.plan(), "free");
});

test("a form that another site's page sends is refused; one of our own pages needs no more than its Origin", async () => {
  const world = await billingWorld();
  const go = browser(world);
  const confirm = `${(await world.start("core")).body.checkout_url}/confirm`;
  for (const headers of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
    {},
  ]) {
    const refused = await go.send(confirm, headers as Record<string, string>);
    assert.is(refused.status, 403);
    assert.match(refused.html, "cross-site");
  }
  assert.is(await world.plan(), "free");
  assert.is((await go.send(confirm, { origin: PUBLIC_URL })).status, 200);
  assert.is(await world.plan(), "core");
});

test("text from outside stays text on the pages, which load nothing, cannot be framed and do not leak their address", async () => {
  const world = await billingWorld({ name: `<img src=x onerror="alert('1')">&` });
  const go = browser(world);
  const nasty = `https://shop.example/?a="><script>alert(1)</script>&b='`;
  const { body } = await world.start("core", { success_url: nasty, cancel_url: nasty });
  const page = await go.get(body.checkout_url);
  const done = await go.press(page, "Confirm core");
  const portal = await go.get((await world.portal({ return_url: nasty })).body.portal_url);
  for (const { html, headers } of [page, done, portal]) {
    assert.not.match(html, "<script");
    assert.not.match(html, "<img");
    assert.match(html, "&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;");
    assert.match(String(headers["content-security-policy"]), /^default-src 'none'; style-src 'sha256-[^']+'; /);
    assert.match(String(headers["content-security-policy"]), "frame-ancestors 'none'");
    assert.equal([headers["referrer-policy"], headers["cache-control"]], ["same-origin", "no-store"]);
    assert.not.match(html, /(?:src|srcset)=[^x]/);
  }
  assert.equal(linksOf(done), [new URL(nasty).href]);
});

test("addresses that a browser cannot open are refused with their paths", async () => {
  const world = await billingWorld();
  for (const url of [
    "javascript:alert(1)",
    "data:text/html,x",
    "/relative",
    "ftp://x.example/",
    "https://bank.example@evil.example/",
    "https://:secret@x.example/",
    `https://x.example/${"a".repeat(2_048)}`,
    `https://x.example/${"漢".repeat(300)}`,
  ]) {
    const refused = await world.start("core", { success_url: url });
    assert.equal([refused.status, refused.body.code], [400, "invalid-request"], url);
    assert.is(refused.body.errors[0].path, "/success_url");
    assert.match(refused.body.detail, "In the body: /success_url must ");
    assert.is((await world.portal({ return_url: url })).body.errors[0].path, "/return_url");
  }
});

test("the plan that the account has is a conflict, the free one is not for sale, and keys do not buy", async () => {
  const world = await billingWorld({ plan: "core" });
  const same = await world.start("core");
  assert.equal([same.status, same.body.code], [409, "conflict"]);
  assert.is((await world.start("free")).status, 400);
  assert.is((await world.start("gold")).status, 400);
  for (const url of ["/v1/billing/checkout/start", "/v1/billing/portal"]) {
    const withKey = await world.app.inject({
      method: "POST",
      url,
      headers: bearer("csk_admin"),
      payload: { plan: "scale" },
    });
    assert.equal([withKey.statusCode, withKey.json().code], [403, "forbidden"]);
    assert.is((await world.session("POST", url, { plan: "scale" }, { "sec-fetch-site": "cross-site" })).status, 403);
  }
});

test("the pages are not part of the described interface", async () => {
  const { app } = await billingWorld();
  const described = (await app.inject("/openapi.json")).json();
  assert.equal(
    Object.keys(described.paths).filter((path) => path.startsWith("/billing")),
    [],
  );
  assert.ok(described.paths["/v1/billing/checkout/start"].post);
});

test.run();
