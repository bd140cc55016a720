import { type CopiedTime, withIsoTimes } from "../../design/format.ts";

/** What is copied from a page has times in ISO 8601 UTC, because elsewhere nobody knows the page's zone. */

const selectedTimes = (selection: Selection): readonly CopiedTime[] =>
  [...document.querySelectorAll("time")]
    .filter((it) => selection.containsNode(it, true))
    .map((it) => ({ shown: it.innerText, iso: it.dateTime }));

/** Fields have their own selection, which is left alone. */
export const copyIsoTimes = (): void =>
  document.addEventListener("copy", (event) => {
    const selection = getSelection();
    const isField = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (selection === null || isField || event.clipboardData === null) return;
    const times = selectedTimes(selection);
    if (times.length === 0) return;
    event.clipboardData.setData("text/plain", withIsoTimes(selection.toString(), times));
    event.preventDefault();
  });
