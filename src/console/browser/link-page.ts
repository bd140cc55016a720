import { api } from "./api.ts";
import { byId, type Dom } from "./browser.ts";
import { fieldsOf, showText } from "./render.ts";

export type LinkBrowser = {
  readonly document: Dom;
  readonly location: { readonly hash: string; readonly pathname: string; replace(address: string): void };
  readonly history: { replaceState(data: null, unused: string, address: string): void };
  readonly fetch: typeof fetch;
};

/** Removes the token from the page's address at once, so that no history or bookmark has it. */
export const startLinkPage = ({ document, location, history, fetch }: LinkBrowser): void => {
  const token = location.hash.slice(1);
  if (token !== "") history.replaceState(null, "", location.pathname);
  const form = byId(document, "link");
  const problem = byId(document, "problem");
  if (token === "") {
    form.hidden = true;
    byId(document, "nothing").hidden = false;
    return;
  }
  const calls = api((input, init) => fetch(input, init));
  let isUnderWay = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    // A second click is ignored, because it would find the link used.
    if (isUnderWay) return;
    isUnderWay = true;
    problem.textContent = "";
    const answer = await calls.send("POST", form.getAttribute("data-action") ?? "", { token, ...fieldsOf(form) });
    isUnderWay = false;
    if (answer.ok) location.replace("./");
    else showText(problem, answer.problem.detail);
  });
};
