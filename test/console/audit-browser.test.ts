import { suite } from "uvu";
import * as assert from "uvu/assert";
import { overflow, violations, WIDTHS } from "../support/accessibility.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, hookSource, signUp } from "../support/client.ts";
import { EvidenceWorld, KEY, ndjson, STRANGER, secondsOf, WITNESS } from "../support/evidence-world.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { openSignedIn } from "../support/signed-in.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("the console's audit page in a browser");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };

/** The page's own requests for exports are answered with one character of the record's leaf changed. */
const FORGED = `(() => {
  const real = globalThis.fetch;
  globalThis.fetch = async (...given) => {
    const answer = await real(...given);
    if (!String(given[0]).includes("/v1/audit/export")) return answer;
    const text = await answer.text();
    const at = text.indexOf('"leaf":"') + 108;
    return new Response(text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1), answer);
  };
})()`;

/** The page's own requests for exports are answered with the text that the test has put there. */
const ANSWERED = `(() => {
  const real = globalThis.fetch;
  globalThis.fetch = (...given) =>
    String(given[0]).includes("/v1/audit/export")
      ? Promise.resolve(new Response(globalThis.exported, { headers: { "content-type": "application/x-ndjson" } }))
      : real(...given);
})()`;

/** The page's own lists of records say that nothing is sealed, as they do for a list that was read at once. */
const EARLY = `(() => {
  const real = globalThis.fetch;
  globalThis.fetch = async (...given) => {
    const answer = await real(...given);
    if (!String(given[0]).startsWith("/v1/audit?")) return answer;
    const text = await answer.text();
    return new Response(text.replaceAll('"sealed":true', '"sealed":false'), answer);
  };
})()`;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  /** A sealed record about an event. */
  let index: number;

  const write = (name: string, value: string): Promise<void> =>
    page.evaluate(`document.querySelector("[name=${name}]").value = ${JSON.stringify(value)}; undefined`);

  test.before(async () => {
    [program, page] = await Promise.all([startProgram(), openBrowser(binary)]);
    await page.shaped({});
    client = await signUp(program.url, WHO);
    const source = await hookSource(client);
    for (let n = 0; n < 5; n += 1) await source.send(`order-${n}`, { type: "order.paid <img src=x onerror=alert(1)>" });
    const first = await until("an event's record is sealed", async () => {
      const { data } = (await client.call("GET", "/v1/audit?type=EventAdmitted&order=asc")).body;
      return data.length === 5 && data[0].sealed ? data[0] : null;
    });
    index = first.index;
    await openSignedIn(page, program.url, { who: WHO, path: "/audit" });
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    removeFolder(program.dir);
  });
  test.after.each(() => {
    assert.equal(page.faults(), []);
    assert.equal([...page.origins()], [new URL(program.url).origin]);
  });

  test("records are told, filtered by type, and one leads to its proof", async () => {
    await page.shows("sent order.paid");
    await page.open(`${program.url}/audit?type=EventAdmitted`);
    await page.shows("sent order.paid");
    await page.shows("; it was let through");
    await page.hides("opened the account");
    await page.open(`${program.url}/audit?q=evt_nothing`);
    await page.shows("No record matches");
  });

  test("a record is opened beside the list, which stays where it is, and Back leaves it there", async () => {
    await page.shaped({ width: 1_440, height: 700 });
    await page.open(`${program.url}/audit?order=asc`);
    await until("all rows are drawn", () =>
      page.evaluate<boolean>(
        "document.querySelectorAll('tbody tr').length > 12 && document.querySelector('tbody .gap') === null",
      ),
    );
    const row = "[...document.querySelectorAll('tbody tr')].at(-3)";
    await page.evaluate(`globalThis.row = ${row}; row.scrollIntoView({ block: "center" }); undefined`);
    const name = await page.evaluate<string>("row.querySelector('a.told').innerText");
    await page.evaluate("row.querySelector('a.told').click()");
    await page.shows("Consistent");
    const isHere =
      "row.isConnected && row.getBoundingClientRect().top > 0 && row.getBoundingClientRect().bottom < innerHeight";
    assert.ok(await page.evaluate<boolean>(isHere), name);
    assert.ok(
      await page.evaluate<boolean>(
        "document.querySelector('.proof h2, .proof h3').getBoundingClientRect().top < innerHeight",
      ),
    );
    await page.evaluate("history.back()");
    await until("the panel is closed", () => page.evaluate<boolean>("document.querySelector('.proof') === null"));
    assert.ok(await page.evaluate<boolean>(isHere), name);
    await page.shaped({});
  });

  test("records that were loaded before they were sealed become sealed on the screen, and the head counts them", async () => {
    await page.open("about:blank");
    await page.open(`${program.url}/settings`);
    await page.shows("Settings");
    await page.evaluate(`${EARLY}; undefined`);
    await page.write("gu");
    await page.shows("it was let through");
    await until("every row that is shown is sealed", () =>
      page.evaluate<boolean>(`(() => {
        const rows = [...document.querySelectorAll("tbody tr")];
        return rows.length > 0 && rows.every((it) => it.innerText.includes("Sealed"));
      })()`),
    );
    await page.shows("Sealed: all");
    await page.shows("newest checkpoint");
  });

  test("the order is in the address, and the oldest record comes first", async () => {
    await page.open(`${program.url}/audit`);
    await page.shows("it was let through");
    await page.click("Oldest first");
    await until("the first record is the first row", () =>
      page.evaluate<boolean>("document.querySelector('tbody tr')?.innerText.startsWith('0') === true"),
    );
    assert.is(await page.evaluate("location.search"), "?order=asc");
    await page.click("Newest first");
    await until("the order is as before", () => page.evaluate<boolean>("location.search === ''"));
  });

  test("a filter of records is saved as a view", async () => {
    await page.open(`${program.url}/audit?type=EventAdmitted`);
    await page.click("Save this view…");
    await page.shows("Everybody in");
    await page.evaluate("document.querySelector('dialog [name=name]').value = 'Requests'; undefined");
    await page.click("Save", "dialog");
    await page.shows("The view Requests is saved.");
    await page.open(`${program.url}/audit`);
    await page.click("Requests", ".tabs");
    await page.shows("it was let through");
    assert.is(await page.evaluate("location.search"), "?type=EventAdmitted");
  });

  test("what the filter finds is exported as sentences", async () => {
    await page.open(`${program.url}/audit?type=EventAdmitted`);
    await page.shows("it was let through");
    await page.click("Export…");
    await page.click("Save as CSV");
    const day = new Date().toISOString().slice(0, 10);
    const csv = await page.downloaded(`records-${day}.csv`);
    assert.is(csv.split("\r\n").length, 7, csv);
    assert.match(csv, /EventAdmitted/);
  });

  test("without a key a record is consistent, with the key authentic, and with another key broken", async () => {
    await page.open(`${program.url}/audit/${index}`);
    await page.shows("Consistent.");
    await page.shows("No key was given");
    const vkey = (await (await fetch(`${program.url}/v1/audit/key`)).text()).trim();
    await page.click("What you have from outside this page");
    await write("keys", vkey);
    await page.click("Check again");
    await page.shows("Authentic.");
    await page.shows(vkey);
    await write("keys", STRANGER.vkey);
    await page.click("Check again");
    await page.shows("Broken at record");
    await page.hides("Authentic.");
    await write("keys", vkey.slice(0, -3));
    await page.click("Check again");
    await page.shows("No verifier key of a log");
    await page.shows("It has its three parts, but a character is missing or wrong");
    await page.hides("Broken at record");
    await write("keys", vkey);
    await write("kept", "no checkpoint");
    await page.click("Check again");
    await page.shows("What was given as a previous checkpoint is none.");
    await page.hides("It has its three parts");
    await write("kept", "");
    assert.equal(await page.evaluate("[localStorage.length, sessionStorage.length, location.search]"), [0, 0, ""]);
  });

  test("a checkpoint that was kept is compared with the newest one", async () => {
    const kept = (await client.call("GET", "/v1/audit/checkpoint")).body;
    await page.open("about:blank");
    await page.open(`${program.url}/audit/${index}`);
    await page.shows("Consistent.");
    await page.click("What you have from outside this page");
    await write("kept", kept);
    await page.click("Check again");
    await page.shows("Consistent.");
    const forged = kept.replace(/^(.+\n\d+\n)(.)/, (_: string, head: string, first: string) =>
      head.concat(first === "A" ? "B" : "A"),
    );
    await write("kept", forged);
    await page.click("Check again");
    await page.shows("Broken at record");
    await write("kept", "Nothing of that kind.");
    await page.click("Check again");
    await page.shows("What was given as a previous checkpoint is none.");
    await page.hides("Broken at record");
  });

  test("a record that was changed on its way is broken, and nothing of it is ticked", async () => {
    await page.open("about:blank");
    await page.open(`${program.url}/audit`);
    await page.shows("it was let through");
    await page.evaluate(`${FORGED}; undefined`);
    await page.evaluate(`document.querySelector('a[href="/audit/${index}"]').click()`);
    await page.shows(
      `Broken at record ${index}. Its leaf does not hash to the value in the tree. Keep this file and the checkpoint, ` +
        "and do not export again before you have shown both to a second person.",
    );
    assert.is(await page.evaluate("document.querySelectorAll('.checks .ok').length"), 0);
    assert.equal(await violations(page), []);
  });

  test("an answer that is cut off, of another record, or of a wrong time is told as what it is", async () => {
    const world = new EvidenceWorld(client.account);
    for (let n = 0; n < index + 3; n += 1)
      world.write({ stream: "delivery-evt_a", type: "AttemptStarted", data: { attempt: n } });
    const early = world.cosigned(world.seal(), [[WITNESS, secondsOf(0) - 3_600]]);
    const answer = (lines: Parameters<typeof ndjson>[0]): Promise<void> =>
      page.evaluate(`globalThis.exported = ${JSON.stringify(ndjson(lines))}; undefined`);
    const one = world.export({ from: index, to: index + 1, tail: [early] });
    await page.open("about:blank");
    await page.open(`${program.url}/audit`);
    await page.shows("it was let through");
    await page.evaluate(`${ANSWERED}; undefined`);
    await answer(one.slice(0, 2));
    await page.evaluate(`document.querySelector('a[href="/audit/${index}"]').click()`);
    await page.shows("nothing in the file was checked");
    await page.hides("What was recorded");
    await answer(one);
    await page.click("What you have from outside this page");
    await write("keys", KEY.vkey);
    await write("witnesses", WITNESS.vkey);
    await page.click("Check again");
    await page.shows("Authentic.");
    await page.shows("What was recorded");
    await page.shows(`Record ${index} says 2026-03-01T12:`);
    assert.equal(await violations(page), []);
    await answer(world.export({ from: index + 1, to: index + 2 }));
    await page.click("Check again");
    await page.shows(`answered with the record ${index + 1}, not with the record ${index} alone`);
    await page.hides("Authentic.");
    await page.hides("What was recorded");
  });

  test("an export of a period asks which days, says what it will prove, and is what was asked for", async () => {
    await page.open("about:blank");
    await page.open(`${program.url}/audit`);
    await page.click("A period, or with payloads…");
    await page.shows("these are all records up to the newest checkpoint");
    const set = (name: string, value: string): Promise<void> =>
      page.evaluate(
        `(() => { const it = document.querySelector('dialog [name=${name}]'); it.value = ${JSON.stringify(value)};
          it.dispatchEvent(new Event("input", { bubbles: true })); })()`,
      );
    await set("which", "period");
    await page.shows("does not prove what came before or after");
    await set("from", "2001-01-01");
    await set("to", "2001-02-01");
    await page.click("Save the export");
    await page.shows("The account has no record of this period.");
    const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
    const [from, to] = [day(Date.now() - 86_400_000), day(Date.now() + 86_400_000)];
    await set("from", from);
    await set("to", to);
    await page.click("Save the export");
    const text = await page.downloaded(`audit-${from}-${to}.ndjson`);
    const header = JSON.parse(text.slice(0, text.indexOf("\n"))) as { from_index: number; to_index: number };
    assert.is(header.from_index, 0);
    assert.ok(header.to_index > 3);
    await page.click("Evidence pack…");
    await page.shows("a claim that the records cannot answer stays open");
    await set("from", "2026-01-01");
    await set("to", "2026-04-01");
    await set("framework", "soc2");
    await page.shows(`countersign evidence --url ${program.url} --from 2026-01-01 --to 2026-04-01 --framework soc2`);
    assert.equal(await violations(page), []);
  });

  test("a record that is not there is told, and is no proof of anything", async () => {
    await page.open("about:blank");
    await page.open(`${program.url}/audit/999999`);
    await page.shows("Write the number of a record, from 0 to");
    assert.is(await page.evaluate("document.querySelector('.proof')"), null);
  });

  test("the list and the proof fit six widths, in two schemes, and axe finds nothing", async () => {
    for (const [path, shows] of [
      ["/audit", "Take it along"],
      [`/audit/${index}`, "Consistent."],
    ] as const) {
      await page.shaped({});
      await page.open(program.url + path);
      await page.shows(shows);
      for (const width of WIDTHS)
        for (const dark of [false, true]) {
          await page.shaped({ width, dark });
          if (process.env.SHOTS)
            await page.screenshot(`${process.env.SHOTS}/audit-${path.length}-${width}-${dark}.png`);
          assert.equal(await violations(page), [], `${path} ${width} ${dark ? "dark" : "light"}`);
          assert.ok((await overflow(page)) <= 0, `${path} at ${width} px`);
        }
    }
  });
};

const binary = browserHere();
if (binary === null)
  skipped("the console's audit page in a browser", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
