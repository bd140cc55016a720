import { Time } from "../../design/text.tsx";
import type { Message, Part } from "./message.ts";

type As = Parameters<typeof Time>[0]["as"];

const drawn = (parts: readonly Part[], as: As) =>
  parts.map((it) => {
    if (typeof it === "string") return it;
    if ("link" in it) return <a href={it.href}>{it.link}</a>;
    return "code" in it ? (
      <code class="wrap">{it.code}</code>
    ) : (
      <Time at={it.at} {...(as === undefined ? {} : { as })} />
    );
  });

type TextProps = { readonly message: Message /** How its times are written. */; readonly as?: As };

/** A message as it stands in a note. */
export const MessageText = ({ message: { title, text }, as }: TextProps) => (
  <>
    <b>{drawn(title, as)}</b>
    {text.length === 0 ? null : " "}
    {drawn(text, as)}
  </>
);
