import type { Me } from "./answers.ts";
import { api } from "./api.ts";
import { type Browser, byId, type DomElement } from "./browser.ts";
import { fieldsOf, showText } from "./render.ts";
import { SignedIn, TITLE } from "./signed-in.ts";

/** The document needs the elements of `page.ts`. Resolves when the first page is shown. */
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
  const signedIn = new SignedIn(browser, calls, leave);

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
