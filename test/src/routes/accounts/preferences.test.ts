import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { signUp } from "../../../support/client.ts";
import { addMember } from "../../../support/members.ts";
import { type ServiceInProcess, serviceInProcess } from "../../../support/service-in-process.ts";

const test = suite("preferences of members");
const log = memoryEventLog();
let nodes: readonly [ServiceInProcess, ServiceInProcess];

test.before(async () => {
  nodes = await Promise.all([serviceInProcess({}, { log }), serviceInProcess({}, { log })]);
});
test.after(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
});

const PATH = "/v1/members/me/preferences";
const FAILED = { name: "Failed at Hana's", address: "/events?status=failed&q=hana" };
const DARK = { scheme: "dark", density: "compact", letters: false };

const world = async () => {
  const owner = await signUp(nodes[0].base);
  const { cookie, id } = await addMember(owner, `viewer-${owner.account.replaceAll("_", "-")}@example.com`);
  const there = owner.at(nodes[1].base);
  return {
    owner,
    id,
    get: async () => (await there.session("GET", PATH)).body,
    put: (body: object) => owner.session("PUT", PATH, body),
    viewerGets: async () => (await there.session("GET", PATH, undefined, { cookie })).body,
    viewerPuts: (body: object) => there.session("PUT", PATH, body, { cookie }),
  };
};

test("a member's settings and views are theirs, on every node; shared views are seen by the account's members alone", async () => {
  const { owner, get, put, viewerGets } = await world();
  const none = {
    version: 0,
    scheme: "system",
    density: "comfortable",
    letters: true,
    hidden_columns: [],
    views: [],
    shared_views: [],
  };
  assert.equal(await get(), none);
  const views = [
    { ...FAILED, shared: false },
    { name: "Held", address: "/approvals?for=all", shared: true },
  ];
  const done = await put({ ...DARK, views });
  assert.equal([done.status, done.body], [200, { ...DARK, version: 1, hidden_columns: [], views, shared_views: [] }]);
  assert.equal(await get(), done.body);
  const { by, ...shared } = (await viewerGets()).shared_views[0];
  assert.equal(shared, { name: "Held", address: "/approvals?for=all" });
  assert.match(by, /^mem_/);
  assert.equal((await viewerGets()).views, []);
  const stranger = await signUp(nodes[0].base);
  assert.equal((await stranger.session("GET", PATH)).body, none);
  assert.is((await owner.call("GET", PATH)).status, 403, "a key has no preferences");
});

test("hidden columns are kept, stay where a change leaves them out, and are shown again", async () => {
  const { get, put } = await world();
  const hidden_columns = [{ list: "Events", columns: ["Cost", "Attempts"] }];
  assert.equal((await put({ ...DARK, views: [], hidden_columns })).body.hidden_columns, hidden_columns);
  assert.equal((await put({ ...DARK, letters: true, views: [] })).body.hidden_columns, hidden_columns);
  assert.equal((await get()).hidden_columns, hidden_columns);
  assert.equal((await put({ ...DARK, views: [], hidden_columns: [] })).body.hidden_columns, []);
  const unnamed = [{ list: " ", columns: ["Cost"] }];
  assert.is((await put({ ...DARK, views: [], hidden_columns: unnamed })).status, 400);
});

test("a change that did not see another tab's is refused, and of two at once on two nodes one holds", async () => {
  const { viewerGets, viewerPuts, put, get } = await world();
  assert.is((await put({ ...DARK, views: [], version: 0 })).status, 200);
  assert.is((await put({ ...DARK, scheme: "light", views: [], version: 0 })).status, 409);
  assert.is((await get()).scheme, "dark");
  const both = await Promise.all(
    ["light", "dark"].map((scheme) => viewerPuts({ ...DARK, scheme, views: [], version: 0 })),
  );
  assert.equal(both.map(({ status }) => status).sort(), [200, 409]);
  assert.is((await viewerGets()).version, 1);
});

test("what a view is called stands in no record, and goes when the view goes", async () => {
  const { put, get, owner } = await world();
  await put({ ...DARK, views: [FAILED] });
  const mine = async () => (await log.readAll(null, 100_000)).filter(({ meta }) => meta.account === owner.account);
  const named = async () => (await mine()).filter(({ data }) => JSON.stringify(data).includes("Hana"));
  assert.equal(
    (await named()).map(({ type }) => type),
    ["PersonalDataKept"],
  );
  const before = (await mine()).length;
  await put({ ...DARK, scheme: "light", views: [FAILED] });
  assert.is((await mine()).length, before + 1, "views that stay are not kept again");
  await put({ ...DARK, views: [] });
  assert.equal([await named(), (await get()).views], [[], []]);
});

test("limits: so many views, short names, and addresses of the console alone", async () => {
  const { put } = await world();
  const status = async (views: unknown, more: object = {}) => (await put({ ...DARK, views, ...more })).status;
  assert.is(await status(Array.from({ length: 50 }, () => FAILED)), 200);
  assert.is(await status(Array.from({ length: 51 }, () => FAILED)), 400);
  for (const view of [
    { ...FAILED, name: " " },
    { ...FAILED, name: "x".repeat(81) },
    ...[
      "//evil.example",
      "/\\evil",
      "https://evil.example",
      "javascript:alert(1)",
      "/events?a=b c",
      "/events/x",
      "/e?a\\b",
    ].map((address) => ({ name: "x", address })),
    { ...FAILED, address: `/events?${"x".repeat(1_024)}` },
  ])
    assert.is(await status([view]), 400, JSON.stringify(view));
  assert.is(await status([], { scheme: "pink" }), 400);
});

test.run();
