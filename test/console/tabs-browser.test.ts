import { suite } from "uvu";
import * as assert from "uvu/assert";
import { layerFitsEverywhere } from "../support/accessibility.ts";
import { type BrowserPage, type BrowserTab, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, HOOK_SECRET, signUp } from "../support/client.ts";
import { type ConsoleScene, consoleScene } from "../support/console-scene.ts";
import { addMember, MEMBER_PASSWORD } from "../support/members.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the console in several tabs, and for a colleague");
const ANA = { email: "ana@shop.example", password: "a password of Ana's" };
const BEN = { email: "ben@shop.example", password: MEMBER_PASSWORD };
/** So many rows that the list has to be scrolled. */
const EVENTS = 30;
const ROWS = "[...document.querySelectorAll('tbody tr')].map((it) => it.dataset.key)";

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let second: BrowserTab;
  let colleague: BrowserPage;
  let ana: Client;
  let scene: ConsoleScene;
  /** What was shown once, and what was typed as a password. */
  const secrets: string[] = [ANA.password, BEN.password, HOOK_SECRET];

  const heldEvent = async (name: string): Promise<string> => {
    const { body } = await scene.source.send(name, { order: "large" });
    return until("it is held", async () => (await ana.call("GET", `/v1/events/${body.event_id}`)).body.approval_id);
  };
  const letter = (on: BrowserTab, key: string): Promise<unknown> =>
    on.evaluate(
      `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true })); undefined`,
    );
  const status = async (id: string): Promise<string> => (await ana.call("GET", `/v1/approvals/${id}`)).body.status;
  const isAt = (on: BrowserTab, path: string) =>
    until(`it is at ${path}`, () => on.evaluate<boolean>(`location.pathname === "${path}"`).catch(() => false));

  test.before(async () => {
    [program, page, colleague] = await Promise.all([
      startProgram({ LOG_LEVEL: "debug" }),
      openBrowser(binary),
      openBrowser(binary),
    ]);
    second = await page.tab();
    for (const it of [page, second, colleague]) await it.shaped({});
    ana = await signUp(program.url, ANA);
    scene = await consoleScene(program.url, ana);
    await addMember(ana, BEN.email, "admin");
    for (let nth = 0; nth < EVENTS; nth += 1)
      await scene.source.send(`more-${nth}`, { order: `${nth}`, type: "order.more" });
    await openSignedIn(page, program.url, { who: ANA, path: "/overview" });
    await page.shows("Needs a person");
    await openSignedIn(colleague, program.url, { who: BEN, path: "/overview" });
  });
  test.after(async () => {
    await page.close();
    await colleague.close();
    killPrograms();
    await scene?.shop.target.close();
    removeFolder(program.dir);
  });
  test.after.each(() => assert.equal([...page.faults(), ...colleague.faults()], []));

  test("a secret is shown once: neither a second tab nor Back nor a reload shows it again", async () => {
    for (const [path, button, title] of [
      ["/settings/keys", "Make the key", "This key is shown once."],
      ["/agents/new", "Make the agent", "This key is shown once."],
      ["/endpoints/new", "Make the endpoint", "This signing secret is shown once."],
    ] as const) {
      await page.open(program.url + path);
      await until("the form is there", () =>
        page.evaluate<boolean>("document.querySelector('form [name=name]') !== null"),
      );
      const values = { name: "robot", actions: "refund.*", url: scene.shop.target.url };
      await page.evaluate(`for (const [name, value] of Object.entries(${JSON.stringify(values)})) {
        const field = document.querySelector("form [name=" + name + "]");
        if (field !== null) field.value = value;
      }`);
      await page.click(button, "form");
      await page.shows(title);
      const secret = await page.evaluate<string>("document.querySelector('.note .copy code').innerText");
      assert.ok(secret.length > 20, secret);
      secrets.push(secret);
      await second.open(program.url + path);
      await second.shows(button);
      await second.hides(title);
      await page.toFront();
      await page.click("Overview", "nav.side");
      await page.shows("Needs a person");
      await page.evaluate("history.back()");
      await isAt(page, path);
      await page.shows(button);
      await page.hides(title);
      await page.open(program.url + path);
      await page.shows(button);
      for (const it of [page, second])
        assert.not(
          await it.evaluate<boolean>(`document.documentElement.outerHTML.includes(${JSON.stringify(secret)})`),
        );
    }
  });

  test("Back restores the filters and the place in a list, and the same address shows a colleague the same rows", async () => {
    const path = `/events?status=delivered&source_id=${scene.source.id}`;
    const total = async () => (await ana.call("GET", `/v1${path}&total=true&limit=1`)).body.total;
    await until("all are delivered", async () => (await total()) === EVENTS + 1);
    await page.open(program.url + path);
    await page.shows(`${EVENTS + 1} match`);
    const rows = await until("all rows are drawn", async () => {
      const all = await page.evaluate<readonly string[]>(ROWS);
      return all.length === EVENTS + 1 ? all : null;
    });
    await page.evaluate("scrollTo(0, 600); undefined");
    await until("it is scrolled", () => page.evaluate<boolean>("scrollY === 600"));
    await page.evaluate(`document.querySelector('tr[data-key="${rows[20]}"] a').click()`);
    await page.shows("Received and authenticated");
    await page.evaluate("history.back()");
    await page.shows(`${EVENTS + 1} match`);
    await until("the place is the same", () => page.evaluate<boolean>("Math.abs(scrollY - 600) < 50"));
    assert.is(await page.evaluate("location.pathname + location.search"), path);
    await colleague.open(await page.evaluate<string>("location.href"));
    await colleague.shows(`${EVENTS + 1} match`);
    // How many match is known a moment before the rows are drawn.
    const seen = await until("the rows are drawn", async () => {
      const all = await colleague.evaluate<readonly string[]>(ROWS);
      return all.length === rows.length ? all : null;
    });
    assert.equal(seen, rows);
  });

  test("what is copied has its times in UTC, and hovering and printing say the same", async () => {
    await page.open(`${program.url}/events/${scene.events.delivered}`);
    await page.shows("Attempt 1");
    const { received_at: at } = (await ana.call("GET", `/v1/events/${scene.events.delivered}`)).body;
    const copied = await page.evaluate<string>(`(() => {
      getSelection().selectAllChildren(document.querySelector(".head .meta"));
      const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
      document.querySelector(".head .meta").dispatchEvent(event);
      return event.clipboardData.getData("text/plain");
    })()`);
    assert.match(copied, at);
    assert.is(await page.evaluate("document.querySelector('.head time').title"), at);
    const printed = await page.evaluate<string>(
      "[...document.styleSheets].flatMap((it) => [...it.cssRules]).filter((it) => it.media?.mediaText === 'print').map((it) => it.cssText).join()",
    );
    assert.match(printed, /time::after\s*\{[^}]*attr\(datetime\)/);
  });

  test("each page with times names their zone, and each time has the moment in UTC", async () => {
    const { delivered } = scene.events;
    const approval = await heldEvent("with-times");
    const [record] = (await ana.session("GET", "/v1/audit?limit=1")).body.data;
    const filter = { status: "failed" };
    const replay = await ana.session("POST", "/v1/replays", { filter }, { "idempotency-key": "with-times" });
    const paths = [
      ...["/events", `/events/${delivered}`, "/approvals?for=all", "/bundles", `/bundles/${scene.bundles.committed}`],
      ...["/sources", `/sources/${scene.source.id}`, "/endpoints", `/endpoints/${scene.endpointId}`],
      ...["/agents", `/agents/${scene.agent.id}`, "/policies", `/policies/${scene.policyId}`, "/audit"],
      ...["/settings/members", "/settings/keys", "/settings/sessions", "/overview", "/usage", "/replays"],
      ...[`/approvals/${approval}`, `/audit/${record.index}`, `/replays/${replay.body.id}`, "/approvals?for=any"],
      ...[`/policies/${scene.policyId}?tab=versions`, `/policies/${scene.policyId}?tab=today`],
    ];
    for (const path of paths) {
      await page.open(program.url + path);
      await until(`${path} names its zone`, () =>
        page.evaluate<boolean>("document.querySelector('main .head')?.innerText.includes('UTC') === true"),
      );
      await until(`${path} is drawn`, () =>
        page.evaluate<boolean>("document.querySelector('main :is(table, time)') !== null"),
      );
      const wrong = await page.evaluate<readonly string[]>(`[...document.querySelectorAll("time")]
        .filter(({ title, dateTime }) => !title.endsWith(dateTime) || !/^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$/.test(dateTime))
        .map((it) => it.outerHTML)`);
      assert.equal(wrong, [], path);
    }
  });

  test("an agent's cost is the sum of its requests, to the cent", async () => {
    const { id } = scene.agent;
    const { body } = await ana.call("GET", `/v1/events?agent_id=${id}&limit=100`);
    const admitted = body.data.filter(({ status: it }: { readonly status: string }) => it !== "blocked");
    const sum = admitted.reduce(
      (all: number, { cost_eur: cost }: { readonly cost_eur: number | null }) => all + Math.round((cost ?? 0) * 100),
      0,
    );
    await page.open(`${program.url}/agents/${id}`);
    await page.shows("reserved for what is not finished");
    const told = await page.evaluate<string>(
      "[...document.querySelectorAll('.sums > *')].find((it) => it.innerText.startsWith('Spent'))?.innerText",
    );
    const [spent = 0, reserved = 0] = [...told.matchAll(/€(\d+\.\d\d)/g)].map(([, amount]) =>
      Math.round(Number(amount) * 100),
    );
    assert.is(spent + reserved, sum, told);
  });

  test("a page that was not connected shows what happened meanwhile", async () => {
    const id = await heldEvent("while-away");
    // One tab holds the stream for all, and the network is cut for this one alone.
    await second.open("about:blank");
    await page.open(`${program.url}/approvals/${id}`);
    await page.shows("If you approve");
    await page.shows("Live");
    await page.offline(true);
    await page.shows("Not connected, from");
    const { digest } = (await ana.call("GET", `/v1/approvals/${id}`)).body;
    await ana.session("POST", `/v1/approvals/${id}/reject`, { digest, comment: "Not today" });
    await page.offline(false);
    await page.shows("Not today");
    await page.hides("Not connected, from");
  });

  test("a list that could not be loaded is loaded when the network is back, though another tab holds the stream", async () => {
    await page.open("about:blank");
    await second.toFront();
    await second.open(`${program.url}/overview`);
    await second.shows("Live");
    await page.toFront();
    await page.open(`${program.url}/events`);
    await page.shows("Live");
    await page.offline(true);
    await scene.source.send("while-cut", { order: "while-cut", type: "order.more" });
    await page.shows("The list could not be loaded.");
    await page.offline(false);
    await page.hides("The list could not be loaded.");
    await page.shows("new event");
  });

  test("a tab that gets no answer from the one with the stream takes the stream, and tells the other", async () => {
    await second.open("about:blank");
    await page.open(`${program.url}/events`);
    await page.shows("Live");
    await second.toFront();
    await second.open(`${program.url}/events`);
    await scene.source.send("heard", { order: "heard", type: "order.more" });
    await second.shows("Show 1 new event");
    await page.evaluate(`{
      const post = BroadcastChannel.prototype.postMessage;
      BroadcastChannel.prototype.postMessage = function (it) {
        if (it.kind === "ask") post.call(this, it);
      };
    }`);
    await scene.source.send("taken", { order: "taken", type: "order.more" });
    await second.shows("Show 2 new events");
    await page.toFront();
    await page.shows("Show 2 new events");
    await scene.source.send("told", { order: "told", type: "order.more" });
    await page.shows("Show 3 new events");
  });

  test("what happens between a slow tab's first read and its first drawing is shown, whichever tab holds the stream", async () => {
    const hasRead = `performance.getEntriesByType("resource").some(({ name, responseEnd }) =>
      responseEnd > 0 && new URL(name).pathname === "/v1/events")`;
    for (const holder of ["/overview", "about:blank"]) {
      await page.open(holder === "about:blank" ? holder : program.url + holder);
      if (holder !== "about:blank") await page.shows("Live");
      const tab = await page.tab();
      await tab.toFront();
      await tab.shaped({});
      await tab.forgets();
      await tab.slowed({ processor: 4, latencyMs: 100, bytesPerS: 50_000 });
      const opening = tab.open(`${program.url}/events`);
      await until("it has read the list", () => tab.evaluate<boolean>(hasRead).catch(() => false));
      await scene.source.send(`late for ${holder}`, { order: "late", type: "order.more" });
      await opening;
      const { body } = await ana.call("GET", "/v1/events?origin=source,agent&total=true&limit=1");
      await tab.shows(`${body.total} match`);
      await tab.close();
    }
  });

  test("Approve never has the first focus, and its letter alone decides nothing, however often it is pressed", async () => {
    const id = await heldEvent("letters");
    for (const path of [`/approvals/${id}`, "/approvals"]) {
      await page.open(program.url + path);
      await page.shows("If you approve");
      assert.is(await page.evaluate("document.activeElement.closest('.sign') === null"), true, path);
    }
    for (let presses = 0; presses < 5; presses += 1) await letter(page, "a");
    assert.match(await page.evaluate<string>("document.activeElement.innerText"), /^Approve/);
    assert.is(await status(id), "pending");
    await page.key("Enter");
    assert.is(await status(id), "pending");
  });

  test("reading every address, as a prefetch or a mail scanner does, changes nothing", async () => {
    const id = await heldEvent("scanned");
    const facts = async () => {
      const lists = [
        "approvals",
        "events",
        "bundles",
        "replays",
        "sources",
        "endpoints",
        "agents",
        "policies",
        "actions",
      ];
      const all = await Promise.all(lists.map((it) => ana.call("GET", `/v1/${it}?limit=100`)));
      return JSON.stringify(all.map(({ body }) => body.data.map((row: { status?: string }) => row)));
    };
    const shells = await page.evaluate<readonly string[]>(
      "[...document.querySelectorAll('nav.side a')].map((it) => it.getAttribute('href'))",
    );
    const { body: description } = await ana.call("GET", "/openapi.json");
    const known: Readonly<Record<string, string>> = {
      ...{ approvals: id, events: scene.events.failed, bundles: scene.bundles.incomplete, sources: scene.source.id },
      ...{ endpoints: scene.endpointId, agents: scene.agent.id, policies: scene.policyId },
    };
    const reads = Object.entries<Record<string, unknown>>(description.paths)
      .filter(([path, methods]) => "get" in methods && !/stream|metrics|billing/.test(path))
      .map(([path]) =>
        path.replace(/\/v1\/(\w+)\/\{\w+\}/, (all, kind: string) =>
          known[kind] === undefined ? all : `/v1/${kind}/${known[kind]}`,
        ),
      )
      .filter((path) => !path.includes("{"));
    const decide = ["approve", "reject"].map((it) => `/v1/approvals/${id}/${it}`);
    const asked = [
      ...shells,
      ...reads,
      ...decide,
      ...Object.entries(known).map(([kind, one]) => `/${kind}/${one}?approve=1&decision=approve&action=delete`),
    ];
    assert.ok(asked.length > 50, String(asked.length));
    const before = await facts();
    const scanners = [
      { purpose: "prefetch", "sec-purpose": "prefetch;prerender" },
      { "user-agent": "Mozilla/5.0 (compatible; SafeLinks scanner)" },
    ];
    for (const path of asked)
      for (const headers of scanners)
        for (const method of ["GET", "HEAD"]) {
          const answer = await fetch(program.url + path, { method, headers: { cookie: ana.cookie, ...headers } });
          await answer.arrayBuffer();
          assert.ok(answer.status < 500, `${method} ${path}: ${answer.status}`);
          if (decide.includes(path)) assert.ok(answer.status >= 400, path);
        }
    assert.is(await facts(), before);
    assert.is(await status(id), "pending");
  });

  test("a form whose session has ended keeps what was typed, and is sent after the sign-in", async () => {
    await page.open(`${program.url}/endpoints/${scene.endpointId}`);
    await page.shows("Retries after");
    await until("the form is there", () =>
      page.evaluate<boolean>("document.querySelector('[name=retry_schedule_s]') !== null"),
    );
    await page.evaluate("document.querySelector('[name=retry_schedule_s]').value = 'soon'; undefined");
    await page.click("Save", "form");
    await page.shows("Write pauses with commas between them, such as 5 s, 2 min, 1 h.");
    await page.evaluate("document.querySelector('[name=retry_schedule_s]').value = '7 s, 2 min, 1 h'; undefined");
    await page.evaluate("void fetch('/v1/auth/logout', { method: 'POST' }).then(() => { globalThis.isOut = true; })");
    await until("the session has ended", () => page.evaluate<boolean>("globalThis.isOut === true"));
    await page.click("Save", "form");
    await page.shows("Your session has ended");
    await page.evaluate(
      `document.querySelector("dialog [name=password]").value = ${JSON.stringify(ANA.password)}; undefined`,
    );
    await page.click("Sign in", "dialog");
    await page.hides("Your session has ended");
    await page.shows("The endpoint is changed.");
    const { body } = await ana.call("GET", `/v1/endpoints/${scene.endpointId}`);
    assert.equal(body.retry_schedule_s, [7, 120, 3_600]);
  });

  /** What the second tab's form is given; its session is the browser's from then on. */
  const signInOnSecond = async ({ email, password }: typeof ANA): Promise<void> => {
    await second.open(`${program.url}/overview`);
    await second.shows("Needs a person");
    await second.evaluate("document.querySelector('.me').click()");
    await second.click("Sign out", "dialog");
    await until("the form is there", () =>
      second.evaluate<boolean>("document.querySelector('form [name=email]') !== null").catch(() => false),
    );
    await second.evaluate(`for (const [name, value] of Object.entries(${JSON.stringify({ email, password })}))
      document.querySelector("[name=" + name + "]").value = value;`);
    await second.click("Sign in", "form");
    await second.shows("Needs a person");
  };
  const comment = () => page.evaluate<string>("document.getElementById('comment').value");
  /** Opens an approval as this member, and begins to write a comment. */
  const commented = async (id: string, email: string, text: string): Promise<void> => {
    await page.open(`${program.url}/approvals/${id}`);
    await page.shows(`You decide as ${email}.`);
    await page.evaluate("document.getElementById('comment').focus(); undefined");
    await page.write(text);
  };
  const undecided = async (id: string): Promise<void> => {
    const { body } = await ana.call("GET", `/v1/approvals/${id}`);
    assert.equal([body.status, body.votes], ["pending", []]);
  };

  test("another member signs in in another tab: an open card says whose session it is, keeps what was typed, and goes on only as its own member", async () => {
    const id = await heldEvent("two-members");
    await commented(id, ANA.email, "Seen with Cy");
    await signInOnSecond(BEN);
    await page.toFront();
    await page.shows(`${BEN.email} is signed in now`);
    await page.hides("You decide as");
    assert.is(await comment(), "Seen with Cy");
    await layerFitsEverywhere(page, "the layer of another member's session");
    await page.shaped({});
    // Whatever is pressed, and even if the page itself would send: nothing is decided in the other's name.
    for (const key of ["a", "r", "r"]) await letter(page, key);
    await page.evaluate("document.querySelector('.sign .first').click(); undefined");
    await page.evaluate("document.querySelector('.sign .first').click(); undefined");
    await page.evaluate("document.querySelector('.sign .danger').click(); undefined");
    await undecided(id);
    await page.open(`${program.url}/approvals/${id}`);
    await page.shows(`You decide as ${BEN.email}.`);
  });

  test("the member of an open card signs in again, in it or in the other tab, and it goes on with what was typed", async () => {
    const id = await heldEvent("back-again");
    await commented(id, BEN.email, "It is late");
    await signInOnSecond(ANA);
    await page.shows(`${ANA.email} is signed in now`);
    await signInOnSecond(BEN);
    await page.toFront();
    await page.shows(`You decide as ${BEN.email}.`);
    await signInOnSecond(ANA);
    await page.toFront();
    await page.shows(`${ANA.email} is signed in now`);
    await page.evaluate(`document.querySelector("dialog [name=password]").value = ${JSON.stringify(BEN.password)}`);
    await page.click("Sign in", "dialog");
    await page.shows(`You decide as ${BEN.email}.`);
    assert.is(await comment(), "It is late");
    await undecided(id);
    // The stream is the member's again, so a change is heard.
    await until("it is connected", () => page.evaluate<boolean>("document.querySelector('.live .bad') === null"));
    await page.click("Reject R");
    await page.click("Reject R");
    await page.shows("Rejected.");
    const { votes } = (await ana.call("GET", `/v1/approvals/${id}`)).body;
    assert.equal(
      votes.map(({ email, comment: why }: Record<string, string>) => [email, why]),
      [[BEN.email, "It is late"]],
    );
    await second.shows(`${BEN.email} is signed in now`);
    await second.click(`Leave it, and go on as ${BEN.email}`, "dialog");
    await until("it is the other member's page", () =>
      second.evaluate<boolean>("document.querySelector('.me')?.innerText.includes('ben') === true").catch(() => false),
    );
  });

  test("no secret is in the log, however much it tells", () => {
    const log = program.output();
    assert.ok(log.length > 1_000, "the log tells something");
    for (const secret of [...secrets, scene.agent.key, ana.key, ana.cookie.split("=")[1] ?? "?"])
      assert.not(log.includes(secret), "a secret is in the log");
  });
};

const binary = browserHere();
if (binary === null) skipped("the console in several tabs", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
