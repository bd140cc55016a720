import { Time } from "../../design/text.tsx";
import type { Message, Part } from "./message.ts";

const drawn = (parts: readonly Part[]) =>
  parts.map((it) => {
    if (typeof it === "string") return it;
    if ("link" in it) return <a href={it.href}>{it.link}</a>;
    return "code" in it ? <code class="wrap">{it.code}</code> : <Time at={it.at} />;
  });

/** A message as it stands in a note. */
export const MessageText = ({ message: { title, text } }: { readonly message: Message }) => (
  <>
    <b>{drawn(title)}</b>
    {text.length === 0 ? null : " "}
    {drawn(text)}
  </>
);
