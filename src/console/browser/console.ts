import type { Me } from "./answers.ts";
import { type Api, api, type Problem } from "./api.ts";
import { type Browser, byId, type DomElement } from "./browser.ts";
import { relative } from "./format.ts";
import type { Screen } from "./page.ts";
import { type Loaded, PAGES, pageAt } from "./pages.ts";
import { link, MOMENT } from "./parts.ts";
import { hrefOf, type Place, placeOf } from "./place.ts";
import { fieldsOf, render, showText } from "./render.ts";
import { h, type Tree } from "./tree.ts";

const REFRESH_MS = 2_000;
const TITLE = "Countersign";
const FIELDS: ReadonlySet<string> = new Set(["INPUT", "SELECT", "TEXTAREA"]);

type Shown = { readonly place: Place; readonly loaded: Loaded; readonly kept: Record<string, unknown> };

const problemShown = ({ code, detail }: Problem): Tree =>
  h(
    "article",
    {},
    h("h1", {}, "Something went wrong"),
    h("p", { class: "bad" }, detail),
    h("p", {}, h("code", {}, code)),
  );

const NOT_HERE: Tree = h(
  "article",
  {},
  h("h1", {}, "Page not found"),
  h("p", {}, "The console has no page at this address."),
);

const navigation = (current: string): Tree =>
  h(
    "ul",
    {},
    ...Object.entries(PAGES).map(([name, { list }]) =>
      h(
        "li",
        {},
        {
          ...link(hrefOf(name), list.title),
          attributes: { href: hrefOf(name), "aria-current": name === current ? "page" : null },
        },
      ),
    ),
  );

/** A page is loaded because the user moved to it, changed something, or for a refresh ("again"). */
type Why = "moved" | "changed" | "again";

const inside = (browser: Browser, calls: Api, onSignedOut: () => void) => {
  const { document, location } = browser;
  const content = byId(document, "content");
  let me: Me | null = null;
  let shown: Shown | null = null;
  let timer: unknown;
  /** Only the answer to the latest request is shown. */
  let asked = 0;
  /** True after a failed refresh; the page says so. */
  let isStale = false;
  /** A message for the next page. */
  let toSay = "";

  const say = (text: string, isBad = false): void => {
    const notice = byId(document, "notice");
    showText(notice, text);
    notice.setAttribute("class", isBad ? "bad" : "good");
    notice.hidden = text === "";
  };

  /** Replacing the elements loses the focus, so it is restored for users of a keyboard. */
  const put = (tree: Tree): void => {
    const isFocused = content.contains(document.activeElement);
    content.replaceChildren(render(document, tree));
    if (isFocused) content.focus({ preventScroll: true });
  };

  /** A new page starts at its top and is announced to screen readers. */
  const putNew = (tree: Tree): void => {
    put(tree);
    browser.scrollTo(0, 0);
    content.focus({ preventScroll: true });
  };

  const tick = (): void => {
    const now = Date.now();
    for (const it of content.getElementsByClassName(MOMENT)) {
      it.textContent = relative(it.getAttribute("datetime") ?? "", now);
    }
  };

  const refused = (problem: Problem): void => {
    if (problem.status === 401) onSignedOut();
    else say(problem.detail, true);
  };

  const draw = (): void => {
    if (shown !== null) put(shown.loaded.show(screenOf(shown)));
  };

  const keep = (from: Shown, entries: Record<string, unknown>): void => {
    Object.assign(from.kept, entries);
    // The user may have moved to another page.
    if (shown?.kept === from.kept) draw();
  };

  const screenOf = (from: Shown): Screen => ({
    place: from.place,
    now: Date.now(),
    role: me?.member.role ?? "viewer",
    kept: from.kept,
    async act(method, path, body, said, to) {
      const answer = await calls.send(method, path, body);
      if (!answer.ok) return refused(answer.problem);
      if (to !== undefined) {
        toSay = said;
        location.hash = to(answer.body);
        return;
      }
      say(said);
      await load("changed");
    },
    async keepText(name, path) {
      const answer = await calls.text(path);
      if (answer.ok) keep(from, { [name]: answer.body });
      else refused(answer.problem);
    },
    async keepAnswer(name, path, body) {
      const answer = await calls.send("POST", path, body);
      if (answer.ok) keep(from, { [name]: answer.body, [`${name} asked`]: body });
      else refused(answer.problem);
    },
    go: (href) => {
      location.hash = href;
    },
  });

  /** A refresh must not disturb a user who is writing. */
  const isWriting = (): boolean => {
    const { activeElement: at } = document;
    return at !== null && FIELDS.has(at.tagName) && content.contains(at);
  };

  const again = (): void => {
    const isSeen = document.visibilityState === "visible";
    if (isSeen && shown?.loaded.isMoving === true && !isWriting()) {
      load("again");
      return;
    }
    if (isSeen) tick();
    wait();
  };

  const wait = (): void => {
    browser.clearTimeout(timer);
    timer = browser.setTimeout(again, REFRESH_MS);
  };

  const load = async (why: Why): Promise<void> => {
    const isNew = why === "moved" || shown === null;
    browser.clearTimeout(timer);
    asked += 1;
    const turn = asked;
    const place = placeOf(location.hash);
    const page = pageAt(place);
    byId(document, "navigation").replaceChildren(render(document, navigation(place.page)));
    if (isNew) {
      say(toSay);
      toSay = "";
    }
    if (page === null) return putNew(NOT_HERE);
    const answer = await page.load(calls, place);
    if (turn !== asked) return;
    document.title = `${page.title} · ${TITLE}`;
    if (!answer.ok) {
      if (answer.problem.status === 401) return onSignedOut();
      if (!isNew) {
        isStale = true;
        say(answer.problem.detail, true);
        return wait();
      }
      shown = null;
      return putNew(problemShown(answer.problem));
    }
    if (isStale) say("");
    isStale = false;
    if (why === "again" && isWriting()) return wait();
    const before = shown;
    const isElsewhere = before === null || hrefOf(before.place.page, before.place.id) !== hrefOf(place.page, place.id);
    const isSame = why === "again" && before?.loaded.fingerprint === answer.body.fingerprint;
    shown = { place, loaded: answer.body, kept: isNew || before === null ? {} : before.kept };
    // Without a change, unfolded details stay open.
    if (isSame) tick();
    else if (isElsewhere) putNew(answer.body.show(screenOf(shown)));
    else draw();
    wait();
  };

  return {
    async begin(who: Me) {
      me = who;
      showText(byId(document, "who"), `${who.member.email} · ${who.account.name} (${who.account.plan})`);
      await load("moved");
    },
    async move() {
      if (me !== null) await load("moved");
    },
    async refresh() {
      if (me === null) return;
      say("");
      await load("again");
    },
    end() {
      browser.clearTimeout(timer);
      asked += 1;
      me = null;
      shown = null;
      content.replaceChildren();
    },
  };
};

/** Needs the elements of `page.ts`; resolves when the first page is shown. */
export const start = async (browser: Browser): Promise<void> => {
  const { document } = browser;
  const calls = api((input, init) => browser.fetch(input, init));
  const [outside, console] = [byId(document, "start"), byId(document, "console")];

  const show = (isInside: boolean): void => {
    outside.hidden = isInside;
    console.hidden = !isInside;
  };
  const leave = (): void => {
    signedIn.end();
    document.title = TITLE;
    show(false);
  };
  const signedIn = inside(browser, calls, leave);

  const enter = async (who: Me): Promise<void> => {
    show(true);
    await signedIn.begin(who);
  };

  const signing = (form: DomElement, path: string): void => {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const problem = byId(document, "sign-problem");
      problem.textContent = "";
      const given = Object.entries(fieldsOf(form)).filter(([, value]) => value !== "");
      const answer = await calls.send<Me>("POST", path, Object.fromEntries(given));
      if (answer.ok) await enter(answer.body);
      else showText(problem, answer.problem.detail);
    });
  };
  signing(byId(document, "log-in"), "/v1/auth/login");
  signing(byId(document, "sign-up"), "/v1/auth/signup");

  byId(document, "log-out").addEventListener("click", async () => {
    await calls.send("POST", "/v1/auth/logout");
    leave();
  });
  byId(document, "refresh").addEventListener("click", () => signedIn.refresh());
  browser.addEventListener("hashchange", () => signedIn.move());

  const known = await calls.get<Me>("/v1/auth/me");
  if (known.ok) await enter(known.body);
  else show(false);
};
