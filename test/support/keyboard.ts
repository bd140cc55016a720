import type { BrowserPage } from "./browser.ts";
import { focusFault } from "./focus.ts";

/** What is looked for may be ready only later, as a button is that waits for an answer. */
const LIMIT_MS = 60_000;

/** A page used by its keys alone, on which the focus is seen at each stop; a field is found by its label, a button by what it says. */
export type Keyboard = {
  /** Replaces the text of the field that has the focus. */
  type(text: string): Promise<unknown>;
  /** What the element that has the focus is called. */
  focused(): Promise<string>;
  tabTo(name: string): Promise<void>;
  fillIn(label: string, text: string): Promise<void>;
  press(name: string): Promise<void>;
  /** Writes the beginning of a choice into a select, which then has it. */
  choose(label: string, word: string): Promise<void>;
};

export const keyboardOf = (page: () => BrowserPage): Keyboard => {
  const focused = (): Promise<string> =>
    page().evaluate<string>(
      "(document.activeElement?.labels?.[0]?.innerText ?? document.activeElement?.innerText ?? '').trim()",
    );
  const type = (text: string): Promise<unknown> =>
    page().evaluate(
      `document.execCommand("selectAll"); document.execCommand("insertText", false, ${JSON.stringify(text)})`,
    );
  const tabTo = async (name: string): Promise<void> => {
    const end = Date.now() + LIMIT_MS;
    while (Date.now() < end) {
      if ((await focused()).startsWith(name)) return;
      await page().key("Tab");
      const fault = await focusFault(page());
      if (fault !== null) throw new Error(fault);
    }
    throw new Error(`Tab does not reach ${name}; the page shows: ${await page().text()}`);
  };
  return {
    type,
    focused,
    tabTo,
    async fillIn(label, text) {
      await tabTo(label);
      await type(text);
    },
    async press(name) {
      await tabTo(name);
      await page().key("Enter");
    },
    async choose(label, word) {
      await tabTo(label);
      await page().write(word);
      const chosen = await page().evaluate<string>("document.activeElement.selectedOptions[0].innerText");
      if (!chosen.startsWith(word)) throw new Error(`${label} has ${chosen}, and no key leads to ${word}`);
    },
  };
};
