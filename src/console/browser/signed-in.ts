import type { Me } from "./answers.ts";
import type { Api, Problem } from "./api.ts";
import { type Browser, byId, type DomElement } from "./browser.ts";
import { relative } from "./format.ts";
import type { Screen } from "./page.ts";
import { type Loaded, PAGES, pageAt } from "./pages.ts";
import { article, link, MOMENT } from "./parts.ts";
import { hrefOf, type Place, placeOf } from "./place.ts";
import { render, showText } from "./render.ts";
import { h, type Tree } from "./tree.ts";

export const TITLE = "Countersign";
const REFRESH_MS = 2_000;
const FIELDS: ReadonlySet<string> = new Set(["INPUT", "SELECT", "TEXTAREA"]);

const problemShown = ({ code, detail }: Problem): Tree =>
  article("Something went wrong", h("p", { class: "bad" }, detail), h("p", {}, h("code", {}, code)));

const NOT_HERE: Tree = article("Page not found", h("p", {}, "The console has no page at this address."));

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

type Shown = { readonly place: Place; readonly loaded: Loaded; readonly kept: Record<string, unknown> };

/** Why a page is loaded: the user moved to it or changed something, or it is refreshed ("again"). */
type Why = "moved" | "changed" | "again";

/** Shows pages to a signed-in user. A page is loaded from its address, and again while its data may change. */
export class SignedIn {
  readonly #browser: Browser;
  readonly #api: Api;
  readonly #onSignedOut: () => void;
  readonly #content: DomElement;
  #me: Me | null = null;
  #shown: Shown | null = null;
  #timer: unknown;
  /** Number of loads begun, so that only the answer to the latest is shown. */
  #loads = 0;
  /** True while the page shows a failed refresh; the next successful one clears that message. */
  #isStale = false;
  #nextMessage = "";

  constructor(browser: Browser, api: Api, onSignedOut: () => void) {
    this.#browser = browser;
    this.#api = api;
    this.#onSignedOut = onSignedOut;
    this.#content = byId(browser.document, "content");
  }

  async begin(me: Me): Promise<void> {
    this.#me = me;
    showText(byId(this.#browser.document, "who"), `${me.member.email} · ${me.account.name} (${me.account.plan})`);
    await this.#load("moved");
  }

  async move(): Promise<void> {
    if (this.#me !== null) await this.#load("moved");
  }

  async refresh(): Promise<void> {
    if (this.#me === null) return;
    this.#say("");
    await this.#load("again");
  }

  end(): void {
    this.#browser.clearTimeout(this.#timer);
    this.#loads += 1;
    this.#me = null;
    this.#shown = null;
    this.#content.replaceChildren();
  }

  async #load(why: Why): Promise<void> {
    const { document, location } = this.#browser;
    const isNew = why === "moved" || this.#shown === null;
    this.#browser.clearTimeout(this.#timer);
    this.#loads += 1;
    const load = this.#loads;
    const place = placeOf(location.hash);
    const page = pageAt(place);
    byId(document, "navigation").replaceChildren(render(document, navigation(place.page)));
    if (isNew) {
      this.#say(this.#nextMessage);
      this.#nextMessage = "";
    }
    if (page === null) return this.#putNew(NOT_HERE);
    const answer = await page.load(this.#api, place);
    if (load !== this.#loads) return;
    document.title = `${page.title} · ${TITLE}`;
    if (answer.ok) this.#showLoaded(place, answer.body, why);
    else this.#showProblem(answer.problem, isNew);
  }

  #showProblem(problem: Problem, isNew: boolean): void {
    if (problem.status === 401) this.#onSignedOut();
    else if (isNew) {
      this.#shown = null;
      this.#putNew(problemShown(problem));
    } else {
      this.#isStale = true;
      this.#say(problem.detail, true);
      this.#wait();
    }
  }

  #showLoaded(place: Place, loaded: Loaded, why: Why): void {
    if (this.#isStale) this.#say("");
    this.#isStale = false;
    if (why === "again" && this.#isWriting()) {
      this.#wait();
      return;
    }
    const before = this.#shown;
    const isElsewhere = before === null || hrefOf(before.place.page, before.place.id) !== hrefOf(place.page, place.id);
    const isSame = why === "again" && before?.loaded.fingerprint === loaded.fingerprint;
    this.#shown = { place, loaded, kept: why === "moved" || before === null ? {} : before.kept };
    // If nothing has changed, the elements stay, so that details which the user has opened stay open.
    if (isSame) this.#updateTimes();
    else if (isElsewhere) this.#putNew(loaded.show(this.#screenOf(this.#shown)));
    else this.#draw();
    this.#wait();
  }

  #screenOf(from: Shown): Screen {
    const { location } = this.#browser;
    return {
      place: from.place,
      now: Date.now(),
      role: this.#me?.member.role ?? "viewer",
      kept: from.kept,
      act: async (path, body, message, { method = "POST", to } = {}) => {
        const answer = await this.#api.send(method, path, body);
        if (!answer.ok) return this.#refuse(answer.problem);
        if (to !== undefined) {
          this.#nextMessage = message;
          location.hash = to(answer.body);
          return;
        }
        this.#say(message);
        await this.#load("changed");
      },
      keepText: async (name, path) => {
        const answer = await this.#api.text(path);
        if (answer.ok) this.#keep(from, { [name]: answer.body });
        else this.#refuse(answer.problem);
      },
      keepAnswer: async (name, path, body) => {
        const answer = await this.#api.send("POST", path, body);
        if (answer.ok) this.#keep(from, { [name]: answer.body, [`${name} asked`]: body });
        else this.#refuse(answer.problem);
      },
      go: (href) => {
        location.hash = href;
      },
    };
  }

  #keep(from: Shown, entries: Record<string, unknown>): void {
    Object.assign(from.kept, entries);
    // The user may have moved to another page while the answer was fetched.
    if (this.#shown?.kept === from.kept) this.#draw();
  }

  #refuse(problem: Problem): void {
    if (problem.status === 401) this.#onSignedOut();
    else this.#say(problem.detail, true);
  }

  #say(text: string, isBad = false): void {
    const notice = byId(this.#browser.document, "notice");
    showText(notice, text);
    notice.setAttribute("class", isBad ? "bad" : "good");
    notice.hidden = text === "";
  }

  #draw(): void {
    if (this.#shown !== null) this.#put(this.#shown.loaded.show(this.#screenOf(this.#shown)));
  }

  /** Replaced elements lose the focus, so the focus is set again for users of a keyboard. */
  #put(tree: Tree): void {
    const { document } = this.#browser;
    const isFocused = this.#content.contains(document.activeElement);
    this.#content.replaceChildren(render(document, tree));
    if (isFocused) this.#content.focus({ preventScroll: true });
  }

  /** The user sees a new page from its top, and its focus makes screen readers announce it. */
  #putNew(tree: Tree): void {
    this.#put(tree);
    this.#browser.scrollTo(0, 0);
    this.#content.focus({ preventScroll: true });
  }

  #updateTimes(): void {
    const now = Date.now();
    for (const it of this.#content.getElementsByClassName(MOMENT)) {
      it.textContent = relative(it.getAttribute("datetime") ?? "", now);
    }
  }

  #wait(): void {
    this.#browser.clearTimeout(this.#timer);
    this.#timer = this.#browser.setTimeout(() => this.#again(), REFRESH_MS);
  }

  #again(): void {
    const isSeen = this.#browser.document.visibilityState === "visible";
    if (isSeen && this.#shown?.loaded.isMoving === true && !this.#isWriting()) {
      this.#load("again");
      return;
    }
    if (isSeen) this.#updateTimes();
    this.#wait();
  }

  /** True while the user is in a field of the page: a refresh would take what is being written. */
  #isWriting(): boolean {
    const { activeElement: at } = this.#browser.document;
    return at !== null && FIELDS.has(at.tagName) && this.#content.contains(at);
  }
}
