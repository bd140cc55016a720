import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Role } from "../../domain/account/events.ts";
import { type BrowserPage, browserHere, openBrowser } from "../support/browser.ts";
import { type Client, signUp } from "../support/client.ts";
import { type ConsoleScene, consoleScene } from "../support/console-scene.ts";
import { addMember, MEMBER_PASSWORD } from "../support/members.ts";
import { killPrograms, type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { skipped } from "../support/skipped.ts";

const test = suite("what each role may do in the console");
const WHO = { email: "ana@shop.example", password: "correct horse battery" };

type Row = {
  readonly path: (scene: ConsoleScene) => string;
  /** On the page once all of it is there. */
  readonly shows: string;
  /** Each act, and the roles that have it. To others it is absent, or disabled with its reason. */
  readonly acts: Readonly<Record<string, readonly Role[]>>;
};

const ADMINS = ["owner", "admin"] as const;
const OWNERS = ["owner"] as const;
const AUDITORS = ["owner", "admin", "approver", "auditor"] as const;

const ROWS: readonly Row[] = [
  { path: () => "/overview", shows: "Endpoints, worst first", acts: {} },
  { path: () => "/events", shows: "order.paid", acts: {} },
  {
    path: ({ events }) => `/events/${events.failed}`,
    shows: "Attempt 1",
    acts: { "Replay…": ADMINS, "Erase the payload…": ADMINS },
  },
  { path: () => "/approvals?for=all", shows: "If you approve", acts: { Reject: ["owner", "admin", "approver"] } },
  {
    path: ({ bundles }) => `/bundles/${bundles.incomplete}`,
    shows: "could not be undone",
    acts: { "Mark as undone": ["owner", "admin", "approver"] },
  },
  { path: () => "/replays", shows: "Replays", acts: { "Show the plan": ADMINS } },
  { path: () => "/sources", shows: "shop", acts: { "Add a source": ADMINS } },
  {
    path: ({ source }) => `/sources/${source.id}`,
    shows: "Refused signatures",
    acts: { "Pause…": ADMINS, "Rotate the secret": ADMINS, "Delete…": ADMINS },
  },
  {
    path: ({ source }) => `/sources/new?source=${source.id}&step=3`,
    shows: "Send a first event",
    acts: { "Paste another secret": ADMINS, "Make a new secret": ADMINS },
  },
  { path: () => "/endpoints", shows: "till", acts: { "Add an endpoint": ADMINS } },
  {
    path: ({ endpointId }) => `/endpoints/${endpointId}`,
    shows: "Failures in a row",
    acts: { Test: ADMINS, "Rotate secret…": ADMINS, "Delete…": ADMINS },
  },
  { path: () => "/agents", shows: "helper", acts: { "Add an agent": ADMINS } },
  {
    path: ({ agent }) => `/agents/${agent.id}`,
    shows: "What it may do",
    acts: { "Suspend…": ADMINS, "Rotate key…": ADMINS, "Delete…": ADMINS },
  },
  { path: () => "/policies", shows: "orders", acts: { "Write a policy": ADMINS } },
  { path: ({ policyId }) => `/policies/${policyId}`, shows: "is in force", acts: { "Publish version 2…": ADMINS } },
  { path: () => "/audit", shows: "Audit", acts: { "Export all records": AUDITORS } },
  { path: () => "/usage", shows: "Usage", acts: {} },
  { path: () => "/settings/members", shows: "Members", acts: { "Make the invitation": OWNERS } },
  { path: () => "/settings/keys", shows: "API keys", acts: { "Make the key": ADMINS } },
  { path: () => "/settings/sessions", shows: "Change your password", acts: {} },
  { path: () => "/settings/account", shows: "Name and time zone", acts: { Save: ADMINS } },
  { path: () => "/settings/preferences", shows: "How you want the console", acts: {} },
];

/** What a page says to those who lack one of its acts: whose act it is. */
const WHO_CAN = /admin or an owner|only an? (owner|admin|auditor)|your role/i;

/** The acts of the page: `yes` works, `told` is disabled with its reason before everyone's eyes, `mute` is disabled without one. */
const ACTS = `[...document.querySelectorAll("main button, main a.btn")].filter((it) => it.checkVisibility()).map((it) => {
  const name = it.innerText.replace(/\\s+/g, " ").trim();
  if (it.disabled !== true) return [name, "yes"];
  const why = document.getElementById(it.getAttribute("aria-describedby"))?.innerText.trim() ?? "";
  const isSeen = [...document.querySelectorAll("main .act-why, main .soft")].some((said) => said.checkVisibility() && said.innerText.trim() === why);
  return [name, why !== "" && isSeen ? "told" : "mute"];
})`;

const inBrowser = (binary: string): void => {
  let program: Program;
  let page: BrowserPage;
  let client: Client;
  let scene: ConsoleScene;

  test.before(async () => {
    [program, page] = await Promise.all([startProgram(), openBrowser(binary)]);
    await page.shaped({});
    client = await signUp(program.url, WHO);
    scene = await consoleScene(program.url, client);
    for (const role of ["admin", "approver", "auditor", "viewer"] as const)
      await addMember(client, `${role}@shop.example`, role);
  });
  test.after(async () => {
    await page.close();
    killPrograms();
    await scene?.shop.target.close();
    removeFolder(program.dir);
  });
  test.after.each(() => {
    assert.equal(page.faults(), []);
  });

  for (const role of ["owner", "admin", "approver", "auditor", "viewer"] as const)
    test(`${role}: each page has the acts of this role, and each that is missing says why or is not drawn`, async () => {
      const [email, password] =
        role === "owner" ? [WHO.email, WHO.password] : [`${role}@shop.example`, MEMBER_PASSWORD];
      if (role === "owner") await page.open(`${program.url}/sign-in`);
      else {
        await page.evaluate("document.querySelector('.me').click()");
        await page.click("Sign out", "dialog");
      }
      await until("the form is there", () =>
        page.evaluate<boolean>("document.querySelector('form [name=email]') !== null").catch(() => false),
      );
      for (const [name, value] of Object.entries({ email, password }))
        await page.evaluate(`document.querySelector("[name=${name}]").value = ${JSON.stringify(value)}; undefined`);
      await page.click("Sign in", "form");
      await page.shows("Needs a person");
      const wrong: string[] = [];
      for (const { path, shows, acts } of ROWS) {
        const at = path(scene);
        await page.open(program.url + at);
        await until(`${at} is there for ${role}`, async () => {
          const text = await page.text();
          return text.includes(shows) || text.includes("Your role in");
        });
        if (Object.values(acts).some((roles) => !roles.includes(role)))
          await until(`${at} says to ${role} who can`, async () =>
            WHO_CAN.test(await page.evaluate<string>("document.querySelector('main').textContent")),
          );
        const wanted = Object.entries(acts).filter(([, roles]) => roles.includes(role));
        for (const [name] of wanted)
          await until(`${role} may ${name} at ${at}`, async () =>
            (await page.evaluate<[string, string][]>(ACTS)).some(([it]) => it.startsWith(name)),
          );
        for (const [name, is] of await page.evaluate<[string, string][]>(ACTS)) {
          const act = Object.keys(acts).find((it) => name.startsWith(it));
          const may = act === undefined || acts[act]?.includes(role) === true;
          if (is === "mute" && !may) wrong.push(`${at}: "${name}" is dead and says nothing`);
          if (is === "yes" && !may) wrong.push(`${at}: "${name}" is offered, and this role may not`);
        }
      }
      assert.equal(wrong, []);
    });

  test("the palette offers a viewer no agent to suspend", async () => {
    await page.evaluate(`{
      const ask = globalThis.fetch;
      globalThis.asked = [];
      globalThis.fetch = (...given) => {
        globalThis.asked.push(String(given[0]));
        return ask(...given);
      };
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
    } undefined`);
    await until("the palette is open", () =>
      page.evaluate<boolean>("document.activeElement?.closest('dialog.pal')?.open === true"),
    );
    await page.write("suspend");
    const asked = await until("it is searched", async () => {
      const paths = await page.evaluate<readonly string[]>("globalThis.asked");
      return paths.includes("/v1/search?q=suspend") ? paths : null;
    });
    assert.equal(
      asked.filter((it) => it.startsWith("/v1/agents?limit=10")),
      [],
    );
    await page.key("Escape");
  });

  test("no page asks for what the role of its reader may not have: a refused call is a record", async () => {
    const { body } = await client.call("GET", "/v1/audit?type=CallsRefused&limit=100");
    assert.equal(body.data, []);
  });
};

const binary = browserHere();
if (binary === null)
  skipped("what each role may do in the console", "there is no Chromium, and BROWSER_BINARY is not set");
else inBrowser(binary);

test.run();
