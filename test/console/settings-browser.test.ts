import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fitEverywhere, violations } from "../support/accessibility.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, hookSource, logIn, signUp } from "../support/client.ts";
import { addMember } from "../support/members.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("settings and usage in a browser");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };
const NEW_PASSWORD = "another horse, another battery";
const BEN = "ben@shop.example";
const EVENTS = 3;
const HOSTILE = "<img src=x onerror=alert(1)>";

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  /** A second browser: another person, who shares no cookie with the first. */
  let other: BrowserPage;
  let client: Client;

  const write = (on: BrowserPage, name: string, value: string): Promise<void> =>
    on.evaluate(`document.querySelector("[name=${name}]").value = ${JSON.stringify(value)}; undefined`);
  const signIn = async (on: BrowserPage, email: string, password: string): Promise<void> => {
    await on.shows("Sign in");
    await write(on, "email", email);
    await write(on, "password", password);
    await on.click("Sign in", "form");
    await on.hides("Sign in");
  };
  const visit = async (path: string, shows: string): Promise<void> => {
    await page.open(program.url + path);
    await page.shows(shows);
  };
  const pick = (choice: string): Promise<void> =>
    page.evaluate(
      `[...document.querySelectorAll("main .pick label")].find((it) => it.innerText.trim() === ${JSON.stringify(choice)}).click()`,
    );
  /** Within the row of the table that begins with this text. */
  const clickInRow = (text: string, button: string): Promise<unknown> =>
    until(`${button} of ${text} can be clicked`, () =>
      page.evaluate<boolean>(`(() => {
        const row = [...document.querySelectorAll("main tbody tr")].find((it) => it.innerText.includes(${JSON.stringify(text)}));
        const found = [...(row?.querySelectorAll("button") ?? [])].find((it) => it.innerText.trim() === ${JSON.stringify(button)});
        if (found === undefined || found.disabled) return false;
        found.click();
        return true;
      })()`),
    );
  const inTable = (text: string): Promise<unknown> =>
    until(`the table says ${text}`, () =>
      page.evaluate<boolean>(
        `document.querySelector("main table")?.innerText.includes(${JSON.stringify(text)}) === true`,
      ),
    );
  const shownOnce = async (): Promise<string> => {
    await page.shows("is shown once.");
    return page.evaluate<string>("document.querySelector('.note .copy code').innerText");
  };
  /** What is shown once leaves the page with Done, and was never in the address or in storage. */
  const stored = async (secret: string): Promise<void> => {
    const kept =
      "location.href + document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage, ...history.state })";
    const isKept = await page.evaluate<boolean>(`(${kept}).includes(${JSON.stringify(secret)})`);
    assert.is(isKept, false, "the secret is kept nowhere");
    assert.is(
      await page.evaluate("[...document.querySelectorAll('button')].find((it) => it.innerText === 'Done').disabled"),
      true,
    );
    await page.evaluate("document.querySelector('.note input[type=checkbox]').click()");
    await page.click("Done", ".note");
    await page.hides("is shown once.");
    assert.is(await page.evaluate(`document.documentElement.outerHTML.includes(${JSON.stringify(secret)})`), false);
  };
  /** The program names itself localhost, for which the browser has other cookies. */
  const atProgram = (link: string): string => {
    const { pathname, hash } = new URL(link);
    return program.url + pathname + hash;
  };
  const roleOf = async (email: string): Promise<string | undefined> => {
    const { body } = await client.session("GET", "/v1/members");
    return body.data.find((it: { email: string }) => it.email === email)?.role;
  };

  test.before(async () => {
    [program, page, other] = await Promise.all([startProgram(), openBrowser(binary), openBrowser(binary)]);
    await Promise.all([page.shaped({ width: 1_440 }), other.shaped({})]);
    client = await signUp(program.url, WHO);
    const source = await hookSource(client, { name: `shop ${HOSTILE}` });
    for (let nth = 0; nth < EVENTS; nth += 1) await source.send(`order-${nth}`);
    await until("the events are counted", async () => {
      const { body } = await client.call("GET", "/v1/billing/summary");
      return body.usage.events === EVENTS;
    });
    await page.open(`${program.url}/settings`);
    await signIn(page, WHO.email, WHO.password);
  });
  test.after(async () => {
    await Promise.all([page.close(), other.close()]);
    killPrograms();
    removeFolder(program.dir);
  });
  test.after.each(() => {
    for (const on of [page, other]) {
      assert.equal(on.faults(), []);
      // The link to an order has the name that the program gives itself: localhost.
      const { port, origin: own } = new URL(program.url);
      const ours = [own, `http://localhost:${port}`, "null"];
      assert.equal(
        [...on.origins()].filter((it) => !ours.includes(it)),
        [],
      );
    }
  });

  test("a person is invited by a link, joins, gets another role, and is removed", async () => {
    await visit("/settings/members", WHO.email);
    await page.shows("Member");
    await write(page, "email", BEN);
    await page.evaluate("document.querySelector('[name=role]').value = 'approver'; undefined");
    await page.click("Make the invitation", "form");
    const link = await shownOnce();
    await page.shows("Invited");
    await stored(link);

    await other.open(atProgram(link));
    await other.shows("You sign in as");
    await write(other, "password", WHO.password);
    await other.click("Join");
    await other.shows("Nothing waits for a person.");
    await other.open(`${program.url}/settings/members`);
    await other.shows("Only an owner sees and changes members: ana.");
    await other.shows("is approver.");
    await other.open(`${program.url}/settings/keys`);
    await other.shows("Only an admin or an owner sees and makes API keys: ana.");

    await visit("/settings/members", BEN);
    await page.hides("Invited");
    await clickInRow(BEN, "Role…");
    await page.evaluate("document.querySelector('dialog [name=role]').value = 'admin'; undefined");
    assert.equal(await violations(page), []);
    await page.click("Change the role", "dialog");
    await page.shows(`${BEN} is admin now.`);
    await until("the list has the new role", async () => (await roleOf(BEN)) === "admin");
    await other.open(`${program.url}/settings/keys`);
    await other.shows("Make a key");

    await clickInRow(BEN, "Reset link…");
    await page.click("Reset link", "dialog");
    await stored(await shownOnce());

    await clickInRow(BEN, "Remove…");
    await page.shows("Their sessions end at once.");
    await page.click("Remove", "dialog");
    await page.shows(`${BEN} is removed.`);
    await until(
      "the row is gone",
      async () => !(await page.evaluate<string>("document.querySelector('main table').innerText")).includes(BEN),
    );
    await other.open(`${program.url}/overview`);
    await other.shows("Sign in");
  });

  test("two invitations in a row: both links stay until they are stored, the newest is before the reader, and the role is the least", async () => {
    await visit("/settings/members", WHO.email);
    const isFocused = (): Promise<boolean> =>
      page.evaluate(
        "document.activeElement.closest('[role=group]')?.innerText.includes('This link is shown once') === true",
      );
    const links = (): Promise<readonly string[]> =>
      page.evaluate("[...document.querySelectorAll('.note .copy code')].map((it) => it.innerText)");
    for (const [nth, email] of ["di@shop.example", "ed@shop.example"].entries()) {
      if (nth === 0) await page.evaluate("document.querySelector('[name=role]').value = 'admin'; undefined");
      await write(page, "email", email);
      await page.click("Make the invitation", "form");
      await until("its link is shown", async () => (await links()).length === nth + 1);
      await until("the reader is there", isFocused);
    }
    assert.is(new Set(await links()).size, 2);
    await until("the list has the newest", async () => (await roleOf("ed@shop.example")) !== undefined);
    assert.equal([await roleOf("di@shop.example"), await roleOf("ed@shop.example")], ["admin", "viewer"]);
    for (const email of ["di@shop.example", "ed@shop.example"]) await clickInRow(email, "Revoke");
    await page.open(`${program.url}/settings/members`);
  });

  test("a refusal by the plan leads to where its limits and the larger plans stand", async () => {
    const forms = [
      {
        ...{ path: "/settings/members", fields: { email: "cy@shop.example" } },
        ...{ button: "Make the invitation", code: "limit-reached" },
        ...{ link: "Open the limits", place: "How many there may be" },
      },
      {
        ...{ path: "/endpoints/new", fields: { name: "one more", url: "https://shop.example/" } },
        ...{ button: "Make the endpoint", code: "plan-limit" },
        ...{ link: "Open usage", place: "Used of the plan" },
      },
    ];
    for (const { path, fields, button, code, link, place } of forms) {
      await visit(path, button);
      // No plan of a program that is not paid for is as small as a test.
      await page.evaluate(`(() => {
        const ask = globalThis.fetch.bind(globalThis);
        const refused = { status: 403, code: "${code}", title: "", detail: "The plan includes no more." };
        globalThis.fetch = (address, init) =>
          init?.method === "POST" ? Promise.resolve(Response.json(refused, { status: 403 })) : ask(address, init);
      })()`);
      for (const [name, value] of Object.entries(fields)) await write(page, name, value);
      await page.click(button, "form");
      await page.shows("The plan includes no more.");
      await page.click(link, "form");
      await page.shows(place);
    }
    await page.open(`${program.url}/settings/members`);
  });

  test("an invitation is revoked, and its link leads nowhere", async () => {
    await visit("/settings/members", WHO.email);
    await write(page, "email", "cy@shop.example");
    await page.click("Make the invitation", "form");
    const link = await shownOnce();
    await stored(link);
    await clickInRow("cy@shop.example", "Revoke");
    await page.shows("The invitation of cy@shop.example is revoked.");
    await other.open(atProgram(link));
    await other.shows("This link was used or has expired.");
  });

  test("the data of a member is erased with the reason, and so is that of a person who has left", async () => {
    const [gus, hal] = ["gus@shop.example", "hal@shop.example"];
    await addMember(client, gus, "approver");
    const { id: left } = await addMember(client, hal, "approver");
    const removed = await client.session("DELETE", `/v1/members/${left}`);
    assert.is(removed.status, 204);
    await visit("/settings/members", gus);
    await clickInRow(gus, "Erase…");
    await page.shows(`Erase the data of ${gus}?`);
    assert.equal(await violations(page), []);
    await write(page, "reason", "Gus asked");
    await page.click("Erase the data", "dialog");
    await page.shows(`The data of ${gus} is erased.`);
    await until("the row is gone", async () => (await roleOf(gus)) === undefined);

    const erase = async (id: string): Promise<void> => {
      await write(page, "member", id);
      await page.click("Erase their data…", "form[aria-label^=Erase]");
      await write(page, "reason", "Hal asked");
      await page.click("Erase the data", "dialog");
    };
    await erase("mem_nobody");
    await page.shows("There is nothing");
    await page.click("Keep it", "dialog");
    await erase(left);
    await page.shows(`The data of ${left} is erased.`);
    const known = await until("both erasures are in the audit", async () => {
      const { body } = await client.session("GET", "/v1/audit?type=MemberErased");
      return body.data.length === 2 ? JSON.stringify(body.data) : null;
    });
    for (const why of ["Gus asked", "Hal asked"]) assert.ok(known.includes(why), why);
    for (const email of [gus, hal])
      assert.not(JSON.stringify((await client.session("GET", "/v1/audit?limit=200")).body).includes(email), email);
  });

  test("the last owner can neither leave nor become less, and is told why", async () => {
    await visit("/settings/members", WHO.email);
    await page.shows("(you)");
    const disabled = await page.evaluate<[string, string][]>(
      "[...document.querySelectorAll('main tbody button[disabled]')].map((it) => [it.innerText, document.getElementById(it.getAttribute('aria-describedby'))?.textContent])",
    );
    assert.equal(
      disabled.map(([name]) => name),
      ["Role…", "Remove…", "Erase…"],
    );
    for (const [, why] of disabled) assert.match(why, /last owner/);
    await page.shows(`${WHO.email} is the account's last owner.`);
  });

  test("a key is made, works, and is refused once it is revoked; the page never shows it again", async () => {
    await visit("/settings/keys", "Make a key");
    await write(page, "name", `robot ${HOSTILE}`);
    await page.click("Make the key", "form");
    const key = await shownOnce();
    const use = async (): Promise<number> =>
      (await fetch(`${program.url}/v1/events`, { headers: { authorization: `Bearer ${key}` } })).status;
    await inTable("never");
    assert.is(await use(), 200);
    await stored(key);
    await visit("/settings/keys", `robot ${HOSTILE}`);
    await inTable("today");
    assert.is(await page.evaluate(`document.documentElement.outerHTML.includes(${JSON.stringify(key)})`), false);
    await clickInRow("robot", "Revoke…");
    await page.click("Revoke", "dialog");
    await page.shows("is revoked.");
    assert.is(await use(), 401);
    await until(
      "the row is gone",
      async () => !(await page.evaluate<string>("document.querySelector('main table').innerText")).includes("robot"),
    );
  });

  test("a further page that the service could not send is loaded by itself, and the loaded rows stay", async () => {
    const { body } = await client.session("POST", "/v1/api-keys", { name: "first page", role: "viewer" });
    const tab = await page.tab();
    await tab.shaped({});
    // The first page names a second one, which the service keeps back once.
    await tab.early(`{
      const ask = globalThis.fetch.bind(globalThis);
      let [key, isAsked] = [null, false];
      globalThis.firstPages = 0;
      globalThis.fetch = async (...given) => {
        const path = String(given[0]);
        if (!path.startsWith("/v1/api-keys?")) return ask(...given);
        if (!path.includes("cursor=second")) {
          globalThis.firstPages += 1;
          const { data } = await (await ask(...given)).json();
          key = data[0];
          return Response.json({ data, next_cursor: "second" });
        }
        if (isAsked) return Response.json({ data: [{ ...key, id: "key_second", name: "second page" }], next_cursor: null });
        isAsked = true;
        return Response.json({ code: "overloaded", title: "Overloaded", status: 503, detail: "Too much at once." }, { status: 503 });
      };
    }`);
    await tab.open(`${program.url}/settings/keys`);
    await tab.shows("first page");
    const firstPages = await tab.evaluate("globalThis.firstPages");
    await tab.click("Load 50 more");
    await tab.shows("Too much at once.");
    await tab.shows("second page");
    await tab.hides("Too much at once.");
    await tab.shows("first page");
    assert.is(await tab.evaluate("globalThis.firstPages"), firstPages);
    await tab.close();
    await page.toFront();
    await client.session("DELETE", `/v1/api-keys/${body.id}`);
  });

  test("a session is ended from another; a changed password ends the rest and is the one that counts", async () => {
    await other.open(`${program.url}/settings/sessions`);
    await signIn(other, WHO.email, WHO.password);
    await visit("/settings/sessions", "This session");
    const ended = await until("both browsers are listed", () =>
      page.evaluate<number>(
        "[...document.querySelectorAll('main tbody button')].filter((it) => it.innerText === 'End').length",
      ),
    );
    await page.click("End", "main tbody");
    await page.shows("The session has ended.");
    await until(
      "one is left less",
      async () =>
        (await page.evaluate<number>(
          "[...document.querySelectorAll('main tbody button')].filter((it) => it.innerText === 'End').length",
        )) < ended,
    );
    await other.open(`${program.url}/overview`);
    await signIn(other, WHO.email, WHO.password);

    await write(page, "current_password", "a wrong password");
    await write(page, "new_password", NEW_PASSWORD);
    await page.click("Change the password", "form");
    await page.shows("This is not your present password.");
    await write(page, "current_password", WHO.password);
    await write(page, "new_password", "short one");
    await page.evaluate("document.querySelector('[name=new_password]').removeAttribute('minlength')");
    await page.click("Change the password", "form");
    await page.shows("at least 10");
    await write(page, "new_password", NEW_PASSWORD);
    await page.click("Change the password", "form");
    await page.shows("Your password is changed.");
    assert.is(await page.evaluate("document.querySelector('[name=new_password]').value"), "");
    await other.open(`${program.url}/overview`);
    await signIn(other, WHO.email, NEW_PASSWORD);
    await visit("/settings/sessions", "End all others…");
    await page.click("End all others…", "main");
    await page.click("End all others", "dialog");
    await page.shows("All your other sessions have ended.");
    await page.hides("End all others…");
    await other.open(`${program.url}/overview`);
    await other.shows("Sign in");
    client = await logIn(program.url, { ...WHO, password: NEW_PASSWORD });
  });

  test("an owner changes the account's name and time zone, by which the console then writes in each tab and each browser", async () => {
    const tab = await page.tab();
    await tab.shaped({});
    await tab.open(`${program.url}/overview`);
    await tab.shows("Times in UTC");
    await page.toFront();
    await other.open(`${program.url}/overview`);
    await signIn(other, WHO.email, NEW_PASSWORD);
    await other.shows("Times in UTC");
    await other.shows("Live");
    await visit("/settings/account", "Name and time zone");
    await write(page, "name", `Marlow ${HOSTILE}`);
    await write(page, "time_zone", "Mars/Olympus");
    await page.click("Save", "form");
    await page.shows("This must be an IANA time zone, such as Europe/Madrid.");
    await page.hides("In the body");
    assert.equal(await violations(page), []);
    await write(page, "time_zone", "Asia/Tokyo");
    await page.click("Save", "form");
    await page.shows("The account is changed.");
    await page.shows("Times in Asia/Tokyo");
    await page.shows(`Marlow ${HOSTILE}`);
    await tab.toFront();
    await tab.shows("Times in Asia/Tokyo");
    await tab.shows(`Marlow ${HOSTILE}`);
    await tab.close();
    await page.toFront();
    await other.shows("Times in Asia/Tokyo");
    await other.shows(`Marlow ${HOSTILE}`);
    await other.evaluate("fetch('/v1/auth/logout', { method: 'POST' }).then(() => undefined)");
    const { body } = await client.session("GET", "/v1/auth/me");
    assert.equal([body.account.name, body.account.time_zone], [`Marlow ${HOSTILE}`, "Asia/Tokyo"]);
    await client.session("PATCH", "/v1/account", { name: "My account", time_zone: "UTC" });
  });

  test("preferences are drawn at once, kept by the service, and letters can be switched off", async () => {
    await visit("/settings/preferences", "As the system");
    // The browser keeps the offsets of the zone before, if the account had that zone for some seconds.
    await page.evaluate("localStorage.removeItem('countersign-zone-offsets')");
    await pick("Dark");
    await until("the page is dark", () => page.evaluate<boolean>("document.documentElement.dataset.scheme === 'dark'"));
    await pick("Compact");
    await until("rows are compact", () =>
      page.evaluate<boolean>("document.documentElement.dataset.density === 'compact'"),
    );
    await page.evaluate("document.querySelector('main input[type=checkbox]').click()");
    await until("all of it is kept", async () => {
      const { body } = await client.session("GET", "/v1/members/me/preferences");
      return body.scheme === "dark" && body.density === "compact" && body.letters === false;
    });
    await visit("/settings/preferences", "As the system");
    assert.is(await page.evaluate("document.documentElement.dataset.scheme"), "dark");
    assert.equal(await page.evaluate("Object.keys(localStorage)"), ["countersign-scheme"]);
    await until("the preferences are read", () =>
      page.evaluate<boolean>("document.querySelector('main input[type=checkbox]')?.checked === false"),
    );
    for (const key of ["g", "o"])
      await page.evaluate(
        `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true })); undefined`,
      );
    assert.is(await page.evaluate("location.pathname"), "/settings/preferences");
    await pick("As the system");
    await pick("Comfortable");
    await page.evaluate("document.querySelector('main input[type=checkbox]').click()");
    await until("nothing is kept in the browser", () => page.evaluate<boolean>("localStorage.length === 0"));
    await until(
      "letters are keys again",
      async () => (await client.session("GET", "/v1/members/me/preferences")).body.letters,
    );
  });

  test("usage shows what the API counts, the plans with their prices, and leads to an order", async () => {
    await visit("/usage", "Your plan");
    await page.shows("By source");
    const [events] = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.sums b')].map((it) => it.innerText)",
    );
    assert.is(events, String(EVENTS));
    await page.shows(`shop ${HOSTILE}`);
    const { body } = await client.call("GET", "/v1/billing/plans");
    assert.is(body.plans.length, 4);
    const { usage, plan } = (await client.call("GET", "/v1/billing/summary")).body;
    const { retention_days } = body.plans.find(({ name }: { readonly name: string }) => name === plan);
    await page.reads(
      new RegExp(`The plan has ${usage.included.toLocaleString("en")} for the month: [\\d,]+ for each day\\.`),
    );
    await page.shows(`are kept for ${retention_days} days after their event has ended.`);
    for (const { price_eur_month } of body.plans) await page.shows(`€${price_eur_month}.00`);
    await page.click("Choose Core", "main");
    await page.shows("Change to Core?");
    await page.shows("sources");
    assert.equal(await violations(page), []);
    await page.click("Go to the order", "dialog");
    // The page that is asked may be replaced just then.
    await until("the order is shown", async () =>
      (await page.evaluate<string>("location.pathname").catch(() => "")).startsWith("/billing/"),
    );
    await visit("/usage", "Cancel the plan…");
  });

  test("a viewer sees the usage, and may not order", async () => {
    const { cookie } = await addMember(client, "dee@shop.example", "viewer");
    const answer = await fetch(`${program.url}/v1/billing/plans`, { headers: { cookie } });
    assert.is(answer.status, 200);
    await other.open(`${program.url}/usage`);
    await signIn(other, "dee@shop.example", WHO.password);
    await other.shows("Your plan");
    const enabled = await other.evaluate<string[]>(
      "[...document.querySelectorAll('main button.btn:not([disabled])')].map((it) => it.innerText)",
    );
    assert.equal(enabled, []);
    await other.shows("Events per day");
  });

  test("privacy says what a person does to erase something, and leads there", async () => {
    await visit("/settings/privacy", "press “Erase the payload…” below its payload");
    assert.not.match(await page.text(), /DELETE|\/v1\//);
    await page.click("Events", "main .narrow");
    await until("the events are opened", async () => (await page.evaluate("location.pathname")) === "/events");
  });

  test("every section fits six widths, in two schemes, and axe finds nothing", async () => {
    const places = [
      ["/settings", "What programs sign in with"],
      ["/settings/members", "dee@shop.example"],
      ["/settings/keys", "ends in"],
      ["/settings/sessions", "This session"],
      ["/settings/preferences", "As the system"],
      ["/settings/account", "How many there may be"],
      ["/settings/privacy", "Payloads"],
      ["/usage", "Your plan"],
    ] as const;
    await fitEverywhere(page, program.url, places);
    await visit("/settings/nothing", "There is nothing at this address in");
  });
};

const binary = browserHere();
if (binary === null) skipped("settings and usage in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
