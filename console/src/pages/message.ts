import { type Clock, shortTime } from "../../design/format.ts";

/** What the console tells: a few words that name it, and sentences that say why and what to do. Pure. */

/** A part of a sentence; code is drawn in the font of ids, `at` is a time in ISO 8601, `link` leads to `href`. */
export type Part =
  | string
  | { readonly code: string }
  | { readonly at: string }
  | { readonly link: string; readonly href: string };

export type Message = { readonly title: readonly Part[]; readonly text: readonly Part[] };

/** Empty texts are left out. */
export const message = (title: string | readonly Part[], ...text: readonly Part[]): Message => ({
  title: typeof title === "string" ? [title] : title,
  text: text.filter((it) => it !== ""),
});

/** Parts with a text between each two of them. */
export const joined = (parts: readonly Part[], between: string): readonly Part[] =>
  parts.flatMap((it, at) => (at === 0 ? [it] : [between, it]));

/** As plain text, with code between backquotes. */
export const plainMessage = ({ title, text }: Message, clock: Clock): string => {
  const plainPart = (it: Part): string => {
    if (typeof it === "string") return it;
    if ("link" in it) return it.link;
    return "code" in it ? `\`${it.code}\`` : shortTime(it.at, clock);
  };
  const plain = (parts: readonly Part[]): string => parts.map(plainPart).join("");
  return `${plain(title)} ${plain(text)}`.trim();
};
