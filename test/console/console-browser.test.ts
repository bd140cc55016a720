import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fitEverywhere, layerFitsEverywhere, violations } from "../support/accessibility.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, logIn } from "../support/client.ts";
import { type ConsoleScene, consoleScene, HOSTILE } from "../support/console-scene.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the console in a browser");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  let scene: ConsoleScene;

  const call = async (path: string, body: unknown): Promise<void> => {
    const headers = { "content-type": "application/json" };
    await fetch(program.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  };
  const status = async (path: string): Promise<string> => (await client.call("GET", path)).body.status;
  /** By the name of the field, as people and password managers find it. */
  const write = (name: string, value: string): Promise<void> =>
    page.evaluate(`document.querySelector("[name=${name}]").value = ${JSON.stringify(value)}; undefined`);
  /** Which addresses of the API the page has asked for. */
  const calls = async (): Promise<readonly string[]> => {
    const all = "performance.getEntriesByType('resource').map((it) => new URL(it.name).pathname)";
    return [...new Set((await page.evaluate<readonly string[]>(all)).filter((it) => it.startsWith("/v1/")))];
  };
  const pendingApproval = async (): Promise<string> =>
    (await client.call("GET", "/v1/approvals?status=pending")).body.data[0].id;

  test.before(async () => {
    [program, page] = await Promise.all([startProgram(), openBrowser(binary)]);
    await page.shaped({});
    await call("/v1/auth/signup", WHO);
    client = await logIn(program.url, WHO);
    scene = await consoleScene(program.url, client);
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await scene?.shop.target.close();
    removeFolder(program.dir);
  });
  /** Whoever has named things: nothing of it runs, the policy is never violated, and nothing comes from elsewhere. */
  test.after.each(() => {
    assert.equal(page.faults(), []);
    assert.equal([...page.origins()], [new URL(program.url).origin]);
  });

  test("a visitor signs in and is where they were going; a wrong password is told, and no secret is kept", async () => {
    await page.open(`${program.url}/events?status=failed`);
    await page.shows("Sign in");
    assert.equal(await violations(page), []);
    assert.equal(await calls(), ["/v1/auth/me"], "a visitor asks for nothing that needs a session");
    await write("email", WHO.email);
    await write("password", "another password");
    await page.click("Sign in", "form");
    await page.shows("password");
    await write("email", WHO.email);
    await write("password", WHO.password);
    await page.click("Sign in", "form");
    await page.shows("The receiver answered 422");
    assert.is(await page.evaluate("location.pathname + location.search"), "/events?status=failed");
    assert.equal(await page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]"), [0, 0, ""]);
  });

  test("a page that is opened with a session that has ended asks once, and leads to the form", async () => {
    const { data } = (await client.session("GET", "/v1/auth/sessions")).body;
    for (const { id, current } of data as readonly { readonly id: string; readonly current: boolean }[])
      if (!current) assert.is((await client.session("DELETE", `/v1/auth/sessions/${id}`)).status, 204);
    await page.open(`${program.url}/overview`);
    await page.shows("Sign in");
    assert.equal(await calls(), ["/v1/auth/me"]);
    await write("email", WHO.email);
    await write("password", WHO.password);
    await page.click("Sign in", "form");
    await page.shows("1 approval waits for you.");
  });

  test("who has no account makes one where the service lets strangers, and is told what a password lacks", async () => {
    await page.evaluate("document.querySelector('.me').click()");
    await page.click("Sign out", "dialog");
    await page.click("Create an account");
    await page.shows("I have an account");
    await write("email", "cy@shop.example");
    await write("password", "correcthorsebatterystaple");
    await page.click("Create the account", "form");
    await page.shows("commonest passwords");
    await write("password", WHO.password);
    await page.click("Create the account", "form");
    await page.shows("Nothing waits for a person.");
    assert.is(await page.evaluate("location.pathname"), "/overview");
    await page.evaluate("document.querySelector('.me').click()");
    await page.click("Sign out", "dialog");
    await page.shows("Sign in");
    await write("email", WHO.email);
    await write("password", WHO.password);
    await page.click("Sign in", "form");
    await page.shows("1 approval waits for you.");
  });

  test("characters that reorder text or are not seen are drawn as escapes", async () => {
    const { body } = await scene.source.send("bidi", { order: "1", type: "paid\u202Edia", note: "a\u200bb" });
    await page.open(`${program.url}/events/${body.event_id}`);
    await page.shows("paid\\u202edia");
    await page.shows("a\\u200bb");
    assert.is(await page.evaluate("/[\\u202e\\u200b]/.test(document.documentElement.innerHTML)"), false);
    await page.open(`${program.url}/events?status=failed`);
    await page.shows("The receiver answered 422");
  });

  test("events are narrowed by chips and views; the address is the view, and Back restores it", async () => {
    await page.hides("no order over 500");
    // The tab tells how many there are, too.
    await page.click("Refused 1", ".tabs");
    await page.shows(`refused by "no order over 500 ${HOSTILE}"`);
    await page.hides("The receiver answered 422");
    assert.is(await page.evaluate("location.search"), "?status=blocked");
    await page.evaluate("history.back()");
    await page.shows("The receiver answered 422");
    await page.evaluate("document.querySelector('[aria-label=\"Remove filter State\"]').click()");
    await page.shows("no order over 500");
  });

  test("every figure of the overview equals the count of the list behind it", async () => {
    await page.open(`${program.url}/overview`);
    await page.shows("Refusals by gate");
    const sums = await page.evaluate<[string, string][]>(
      "[...document.querySelector('.sums').querySelectorAll('a')].slice(0, 5).map((it) => [it.getAttribute('href'), it.querySelector('b').innerText])",
    );
    assert.is(sums.length, 5);
    // Each bar of the refusals by gate and of the held actions leads to its list, too.
    const bars = await until("the bars are drawn", async () => {
      const found = await page.evaluate<[string, string][]>(
        "[...document.querySelectorAll('.barlist a')].map((it) => [it.getAttribute('href'), it.closest('li').innerText.trim().split(/\\s+/).at(-1)])",
      );
      return found.length > 0 ? found : null;
    });
    assert.ok(
      bars.some(([href]) => href.includes("gate=") || href.includes("blocked")),
      JSON.stringify(bars),
    );
    for (const [href, figure] of bars) {
      const { body } = await client.call("GET", `/v1${href}&limit=100`);
      assert.is(figure, String(body.data.length), href);
    }
    const ofBundles = bars.find(([href]) => href.startsWith("/bundles?"));
    assert.ok(ofBundles, "a refused bundle is a figure of its own");
    for (const [href, figure] of sums) {
      const { body } = await client.call("GET", `/v1${href}&total=true`);
      assert.is(figure, String(body.total), href);
      await page.open(program.url + href);
      await page.shows(`${figure} match`);
    }
    await page.open(program.url + ofBundles[0]);
    await page.shows(`blocked ${HOSTILE}`);
    await page.hides(`committed ${HOSTILE}`);
    await page.open(`${program.url}/bundles/${scene.bundles.blocked}`);
    await page.reads(/order\.create Nothing: it was never started Skipped/);
    await page.reads(/order\.create Nothing: refused by "no order over 500 .*" Refused/);
  });

  test("so does each figure of its approvals, budgets and endpoints, and the number at Approvals", async () => {
    await page.open(`${program.url}/overview`);
    await page.shows("Approvals in this range");
    const read = <T>(what: string): Promise<readonly T[]> => page.evaluate<readonly T[]>(what);
    const outcomes = await until("they are counted", async () => {
      const all = await read<[string, string]>(
        "[...[...document.querySelectorAll('.sums')].at(-1).querySelectorAll('a')].map((it) => [it.getAttribute('href'), it.querySelector('b').innerText])",
      );
      return all.length === 6 && all.every(([, figure]) => /\d/.test(figure)) ? all : null;
    });
    const budgets = await read<[string, string]>(
      "[...document.querySelectorAll('.lines li')].map((it) => [it.querySelector('a').getAttribute('href'), it.querySelector('b').innerText])",
    );
    const endpoints = await read<[string, string]>(
      "[...[...document.querySelectorAll('main table')].find((it) => it.caption?.innerText === 'Endpoints, worst first').tBodies[0].rows].map((it) => [it.querySelector('a').getAttribute('href'), it.cells[it.cells.length - 1].innerText])",
    );
    const [badge] = await read<string>("[document.querySelector('nav.side .count').firstChild.data]");
    assert.ok(budgets.length > 0 && endpoints.length > 0);
    for (const [href, figure] of budgets) {
      const { settled_eur, reserved_eur } = (await client.call("GET", `/v1${href}/ledger`)).body;
      const reserved = reserved_eur === 0 ? "" : `, €${reserved_eur.toFixed(2)} reserved`;
      assert.is(figure, `€${settled_eur.toFixed(2)} spent${reserved}`, href);
    }
    for (const [href, figure] of endpoints) {
      const id = href.split("/").at(-1);
      const waiting = await client.call("GET", `/v1/events?endpoint_id=${id}&status=queued&total=true`);
      assert.is(Number.parseInt(figure, 10), waiting.body.total, href);
    }
    assert.is(badge, String((await client.session("GET", "/v1/approvals?for=me&limit=100")).body.data.length));
    let sum = 0;
    for (const [nth, [href, figure]] of outcomes.entries()) {
      const query = href.split("?")[1]?.replace("for=any&", "");
      assert.is(figure, String((await client.call("GET", `/v1/approvals?${query}&total=true`)).body.total), href);
      sum += nth === 0 ? 0 : Number(figure);
      await page.open(program.url + href);
      await page.shows(`${figure} match`);
    }
    assert.is(String(sum), outcomes[0]?.[1], "the outcomes add up to what was asked");
    await page.open(`${program.url}/approvals`);
    await page.shows(`${badge} ${badge === "1" ? "waits" : "wait"} for you`);
  });

  test("the overview begins with what needs a person, and has the day's budgets", async () => {
    await page.open(`${program.url}/overview`);
    await page.shows("It stopped half undone. 1 step needs a manual undo.");
    await page.shows("Budgets today");
    await page.shows("Waiting for approval, by action");
    await page.shows("of €1,000,000.00");
    await page.click("See what is left", ".todo");
    await page.shows("could not be undone");
  });

  test("an endpoint's page has its last day, and what uses it", async () => {
    await page.open(`${program.url}/endpoints/${scene.endpointId}`);
    await page.shows("The last 24 h");
    await page.shows("What uses it");
    await page.shows("The last failure");
    await page.shows("The receiver answered 422");
    await page.click("order.create", "main");
    await page.shows("Undone by");
  });

  test("an invalid filter keeps the page and its form, and says what is expected", async () => {
    await page.open(`${program.url}/events?status=nonsense`);
    await page.shows("Choose a state from the list.");
    await page.shows("Nothing is listed");
    await page.evaluate("document.querySelector('[aria-label=\"Remove filter State\"]').click()");
    await page.shows("order.paid");
  });

  test("an event explains itself: cause, timeline, attempts, verdict, payload; its replay is followed to the end", async () => {
    await page.open(`${program.url}/events/${scene.events.failed}`);
    for (const text of ["The receiver answered 422", "Attempt 1", "Failed, HTTP 422", "1 of 1 rules passed", HOSTILE])
      await page.shows(text);
    scene.shop.target.answer((_, response) => response.end("{}"));
    await page.shows(`POST ${scene.shop.target.url}`);
    await page.shows(`${scene.events.failed} the same on every attempt`);
    await page.click("Replay…", "main");
    await page.shows("Sends 1 event now.");
    await page.click("Replay 1 event", "dialog");
    await page.shows("Succeeded, HTTP 200");
    await until("its newest record is sealed on the screen", () =>
      page.evaluate<boolean>(
        "/Sealed\\s+Record \\d+\\s+and \\d+ more/.test(document.querySelector('.side-facts')?.innerText ?? '')",
      ),
    );
    await until("the state is told", async () => (await status(`/v1/events/${scene.events.failed}`)) === "delivered");
    await page.shows("A delivered event is not sent again.");
  });

  test("an address that does not exist is told in the console, with the frame around it", async () => {
    await page.open(`${program.url}/evnets?status=failed`);
    await page.shows("There is nothing at this address in My account.");
    await page.shows("Approvals");
  });

  test("a policy leads to what uses it, and a chart's figures are there as a table", async () => {
    await page.open(`${program.url}/policies/${scene.policyId}`);
    await page.shows("used by");
    await until("what uses it is a link", () =>
      page.evaluate<boolean>(`document.querySelector('.head a[href="/agents/${scene.agent.id}"]') !== null`),
    );
    await page.open(`${program.url}/overview`);
    await page.click("Show as table");
    await until("each lane is a column", () =>
      page.evaluate<boolean>(
        "[...document.querySelectorAll('details[open] th[scope=col]')].map((it) => it.innerText).join() === 'From,Delivered,Refused,Held,Failed'",
      ),
    );
    assert.equal(await violations(page), []);
  });

  test("in a timeline arrows move from stage to stage, right and Enter open one, and there is one tab stop", async () => {
    await page.open(`${program.url}/events/${scene.events.failed}`);
    await page.shows("Attempt 1");
    const focused = () => page.evaluate<string>("document.activeElement.dataset.at ?? ''");
    const stops = "[...document.querySelectorAll('.fall [data-at]')].filter((it) => it.tabIndex === 0)";
    const opened = () => page.evaluate<string>("document.querySelector('.fall .opened')?.innerText ?? ''");
    assert.is(await page.evaluate<number>(`${stops}.length`), 1);
    await page.evaluate(`${stops}[0].focus()`);
    await page.key("ArrowDown");
    assert.is(await focused(), "1");
    assert.is(await page.evaluate<number>(`${stops}.length`), 1);
    await page.key("ArrowUp");
    await page.key("ArrowUp");
    assert.is(await focused(), "0");
    await page.key("ArrowDown");
    await page.key("ArrowRight");
    await until("the stage is open", async () => /Began[\s\S]+Ended/.test(await opened()));
    assert.is(await page.evaluate<string>("document.activeElement.ariaExpanded"), "true");
    assert.equal(await violations(page), []);
    await page.key("ArrowLeft");
    await until("the stage is closed", async () => (await opened()) === "");
    await page.key("Enter");
    await until("Enter opens it too", async () => /Began[\s\S]+Ended/.test(await opened()));
    await page.key("Tab");
    assert.is(await focused(), "", "Tab leaves the timeline");
  });

  test("the names of a timeline are widened with keys and with the pointer, and stay so on the next page", async () => {
    await page.open(`${program.url}/events/${scene.events.failed}`);
    await page.shows("Attempt 1");
    const edge = "document.querySelector('.fall [role=separator]')";
    const value = () => page.evaluate<number>(`Number(${edge}?.ariaValueNow)`);
    const width = () => page.evaluate<number>("document.querySelector('.fall [data-at]').firstChild.offsetWidth");
    await until("the edge tells the width", async () => (await value()) === (await width()));
    const first = await value();
    await page.evaluate(`${edge}.focus()`);
    await page.key("ArrowRight");
    await until("it is wider", async () => (await value()) === first + 16);
    assert.is(await width(), first + 16);
    await page.key("Home");
    await until("it is the least", async () => (await value()) === 120);
    await page.dragged(".fall [role=separator]", 80);
    await until("it is as much wider as it was dragged", async () => (await value()) === 200);
    assert.is(await width(), 200);
    assert.equal(await violations(page), []);
    await page.write("g");
    await page.write("e");
    await page.shows("order.paid");
    await page.evaluate("history.back()");
    await until("the next timeline has the width, too", async () => (await value()) === 200);
    assert.is(await width(), 200);
  });

  test("on an event's page t makes the timeline a table, f leads to the search in its payload, and the address says how the scale is", async () => {
    await page.open(`${program.url}/events/${scene.events.delivered}?scale=full`);
    await page.shows("Attempt 1");
    await page.write("t");
    await page.shows("Show as table");
    const rows = await until("the stages are a table", () =>
      page.evaluate<readonly string[] | null>(`(() => {
        const table = [...document.querySelectorAll("table")].find((it) => it.caption?.innerText.includes("stages"));
        return table === undefined ? null : [...table.tBodies[0].rows].map((it) => it.innerText);
      })()`),
    );
    assert.ok(
      rows.some((it) => it.includes("Attempt 1") && /\d m?s/.test(it)),
      rows.join("; "),
    );
    assert.equal(await violations(page), []);
    await page.write("t");
    // The payload is drawn after what stands above it.
    await until("the search has the focus", async () => {
      await page.evaluate(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'f', bubbles: true })); undefined",
      );
      return page.evaluate<boolean>("document.activeElement.getAttribute('aria-label') === 'Search keys and values'");
    });
    await page.shows("Full scale");
    await page.click("Collapse waiting");
    await until("the address says it", async () => (await page.evaluate<string>("location.search")) === "");
  });

  test("a payload is erased for a reason, and its record stays", async () => {
    await page.open(`${program.url}/events/${scene.events.delivered}`);
    await page.click("Erase the payload…");
    await page.shows("Its content is gone for good. The record and its proof stay.");
    assert.equal(await violations(page), []);
    await write("reason", "The customer asked for it.");
    await page.click("Erase the payload", "dialog");
    await page.shows("Its record and proof remain.");
    await page.shows("Attempt 1");
  });

  test("another account's event and one that never existed are the same page", async () => {
    for (const id of ["evt_nothing", `evt_${"a".repeat(32)}`]) {
      await page.open(`${program.url}/events/${id}`);
      await page.shows("There is nothing at this address in");
    }
  });

  test("every page fits six widths, in two schemes, and axe finds nothing", async () => {
    const places = [
      ["/overview", "Endpoints, worst first"],
      ["/events", "order.paid"],
      [`/events/${scene.events.held}`, "Held"],
      ["/approvals", "What is sent"],
      [`/approvals/${await pendingApproval()}`, "What is sent"],
      ["/bundles", "incomplete"],
      [`/bundles/${scene.bundles.incomplete}`, "could not be undone"],
      ["/replays", "Show the plan"],
      ["/sources", "shop"],
      [`/sources/${scene.source.id}`, "It matches none of this source's secrets."],
      ["/endpoints", "till"],
      [`/endpoints/${scene.endpointId}`, "Failures in a row"],
      ["/agents", "helper"],
      [`/agents/${scene.agent.id}`, "What it may do"],
    ] as const;
    await fitEverywhere(page, program.url, places);
  });

  test("a step that could not be undone is marked by hand, with a note", async () => {
    await page.open(`${program.url}/bundles/${scene.bundles.incomplete}`);
    await page.shows("Undo it by hand, then mark it as undone.");
    await page.click("Mark as undone", "form");
    await page.shows("This field is empty, and it is needed.");
    assert.is(await page.evaluate("document.activeElement.name"), "comment");
    assert.equal(await violations(page), []);
    await write("comment", "The order was cancelled by telephone.");
    await page.click("Mark as undone", "form");
    await page.reads(/Undone by hand at [^\n]*: The order was cancelled by telephone\./);
    await until(
      "it is recorded",
      async () => (await status(`/v1/bundles/${scene.bundles.incomplete}`)) === "rolled_back",
    );
  });

  test("the event of a bundle's step counts it as the bundle's page does, from 1", async () => {
    const { body } = await client.call("GET", `/v1/bundles/${scene.bundles.committed}`);
    await page.open(`${program.url}/events/${body.steps[0].event_id}`);
    await page.shows("step 1");
    await page.click("step 1");
    await page.shows("What each step did");
  });

  test("an endpoint is tested, an agent suspended and resumed, and a new key shown once", async () => {
    await page.open(`${program.url}/endpoints/${scene.endpointId}`);
    await page.shows("Failures in a row");
    await page.click("Test", ".acts");
    await page.shows("The test was delivered: HTTP 200.");
    await page.open(`${program.url}/agents/${scene.agent.id}`);
    await page.click("Suspend…", ".acts");
    await page.shows("Its key stops at once. Nothing is held for it; no delivery is under way.");
    await write("reason", "It asked too often.");
    await page.click(`Suspend helper ${HOSTILE}`, "dialog");
    await page.shows("Suspended since");
    await page.click("Resume", ".acts");
    await page.hides("It asked too often.");
    await page.click("Rotate key…", ".acts");
    await page.click("Rotate key", "dialog");
    await page.shows("This key is shown once.");
    await page.open(`${program.url}/agents/${scene.agent.id}`);
    await page.shows("Its key stops at once");
    await page.hides("This key is shown once.");
  });

  test("a replay begins with its plan, which says what is skipped and why", async () => {
    await page.open(`${program.url}/replays`);
    await page.click("Show the plan");
    await page.shows("a step of a bundle is not sent alone");
  });

  test("a source is paused and resumed", async () => {
    await page.open(`${program.url}/sources/${scene.source.id}`);
    await page.shows("Refused signatures");
    await page.click("Pause…", ".acts");
    await page.click("Pause", "dialog");
    await until("it is paused", async () => (await status(`/v1/sources/${scene.source.id}`)) === "paused");
    await page.click("Resume", ".acts");
    await until("it is resumed", async () => (await status(`/v1/sources/${scene.source.id}`)) === "active");
  });

  test("one key decides nothing; a rejection needs its reason; two presses approve, and the outcome is told", async () => {
    const id = await pendingApproval();
    await page.open(`${program.url}/approvals/${id}`);
    await page.shows("If you approve");
    assert.is(await page.evaluate("document.activeElement.closest('.sign') === null"), true);
    await page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))");
    assert.is(await status(`/v1/approvals/${id}`), "pending");
    await page.click("Reject R");
    await page.shows("Say why, then press Reject again.");
    assert.is(await status(`/v1/approvals/${id}`), "pending");
    await page.click("Approve €0.02 A");
    assert.is(await status(`/v1/approvals/${id}`), "pending");
    await page.shows("Approve €0.02, now");
    // The second half of a double click, and a key that is held, are no second press.
    const isHeldBack = await page.evaluate<boolean>(`(() => {
      const button = document.querySelector(".sign .first");
      button.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 2 }));
      return !button.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", repeat: true, bubbles: true, cancelable: true }));
    })()`);
    assert.ok(isHeldBack);
    await page.shows("Approve €0.02, now");
    assert.is(await status(`/v1/approvals/${id}`), "pending");
    await page.click("Approve €0.02, now A");
    await page.shows("Approved.");
    await page.hides("Needs 1 approval");
    await until("it is sent", async () => (await status(`/v1/events/${scene.events.held}`)) === "delivered");
  });

  test("a decision that another person took meanwhile is told, and takes the buttons away", async () => {
    const sent = await scene.source.send("another-large", { order: "large" });
    const id = await until("it is held", async () => {
      const { body } = await client.call("GET", `/v1/events/${sent.body.event_id}`);
      return body.approval_id;
    });
    await page.open(`${program.url}/approvals/${id}`);
    await page.shows("If you approve");
    const { body } = await client.call("GET", `/v1/approvals/${id}`);
    const vote = { digest: body.digest, comment: "The parcel was found." };
    await client.session("POST", `/v1/approvals/${id}/reject`, vote);
    await page.shows("Rejected. Nothing was sent.");
    assert.is(await page.evaluate("document.querySelector('.sign')"), null);
    await page.open(`${program.url}/events/${sent.body.event_id}`);
    await page.shows(`It was rejected by ${WHO.email}: “The parcel was found.”`);
  });

  test("a session that ends while a page is open is taken up in a layer, and what was typed stays", async () => {
    const sent = await scene.source.send("third-large", { order: "large" });
    const id = await until("it is held", async () => {
      const { body } = await client.call("GET", `/v1/events/${sent.body.event_id}`);
      return body.approval_id;
    });
    await page.open(`${program.url}/approvals/${id}`);
    await page.shows("If you approve");
    await page.evaluate("document.getElementById('comment').value = 'Seen with Ben'; undefined");
    await page.evaluate("void fetch('/v1/auth/logout', { method: 'POST' })");
    await page.shows("Your session has ended");
    await layerFitsEverywhere(page, "the sign-in over a page");
    await page.shaped({});
    await write("password", WHO.password);
    await page.click("Sign in", "dialog");
    await page.hides("Your session has ended");
    assert.is(await page.evaluate("document.getElementById('comment').value"), "Seen with Ben");
    await page.click("Approve €0.02 A");
    await page.click("Approve €0.02, now A");
    await page.shows("Approved.");
  });

  test("Control K opens the palette, a pasted id opens its page, and letters go to pages", async () => {
    await page.evaluate(
      "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true })); undefined",
    );
    await until("the palette is open", () =>
      page.evaluate<boolean>("document.querySelector('dialog.pal')?.open === true"),
    );
    await page.evaluate(`(() => { const field = document.querySelector("dialog input"); field.value = "${scene.events.delivered}";
      field.dispatchEvent(new Event("input", { bubbles: true })); })()`);
    await page.shows("event · delivered");
    assert.equal(await violations(page), []);
    await page.key("Enter");
    await until("the event is open", async () =>
      (await page.evaluate<string>("location.pathname")).endsWith(scene.events.delivered),
    );
    const crumb = () => page.evaluate<string>("document.querySelector('.crumbs [aria-current]').innerText");
    await until("the breadcrumb has the event's name", async () => (await crumb()).startsWith("order.paid"));
    for (const key of ["g", "e"])
      await page.evaluate(
        `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true })); undefined`,
      );
    await until("the list is open", () => page.evaluate<boolean>("location.pathname === '/events'"));
  });

  test("the palette finds things by a part of their name, and leads to an act's page without acting", async () => {
    const find = async (text: string): Promise<void> => {
      await page.evaluate(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true })); undefined",
      );
      await until("the palette is open", () =>
        page.evaluate<boolean>("document.activeElement?.closest('dialog.pal')?.open === true"),
      );
      await page.write(text);
    };
    await find("order.cre");
    await page.shows("order.create");
    await until("it is chosen", () =>
      page.evaluate<boolean>("document.querySelector('[aria-selected=true]')?.innerText.includes('order.create')"),
    );
    await page.key("Enter");
    await page.shows("Undone by");
    assert.is(await page.evaluate("location.pathname"), "/agents/actions/order.create");
    const named = await client.session("POST", "/v1/policies", { name: "suspend-rules" });
    assert.is(named.status, 201, JSON.stringify(named.body));
    await find("suspend");
    await page.shows("suspend-rules");
    await page.shows("Suspend an agent…");
    await page.shows(`Suspend helper ${HOSTILE}…`);
    await page.key("Escape");
    await find("help");
    await page.shows(`Suspend helper ${HOSTILE}…`);
    for (
      let at = 0;
      at < 9 &&
      !(await page.evaluate<boolean>("document.querySelector('[aria-selected=true]').innerText.includes('Suspend')"));
      at += 1
    )
      await page.key("ArrowDown");
    await page.key("Enter");
    await page.shows("What it may do");
    assert.is(await status(`/v1/agents/${scene.agent.id}`), "active");
  });

  test("a GET decides nothing and changes nothing, whatever the address", async () => {
    const sent = await scene.source.send("fourth-large", { order: "large" });
    const id = await until("it is held", async () => {
      const { body } = await client.call("GET", `/v1/events/${sent.body.event_id}`);
      return body.approval_id;
    });
    for (const path of [`/approvals/${id}`, `/approvals/${id}?approve=1&decision=approve`]) {
      const answer = await fetch(program.url + path, { headers: { cookie: client.cookie } });
      assert.is(answer.status, 200);
    }
    assert.is(await status(`/v1/approvals/${id}`), "pending");
  });
};

const binary = browserHere();
if (binary === null) skipped("the console in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
