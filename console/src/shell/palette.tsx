import { useEffect, useState } from "preact/hooks";
import { useKeys } from "../../design/keys.ts";
import { Layer } from "../../design/layer.tsx";
import { Icon } from "../../design/mark.tsx";
import { Palette, type PaletteEntry } from "../../design/palette.tsx";
import { navGroups } from "./pages.ts";
import { go } from "./router.ts";

/** The page of a thing, by the prefix of its id. */
const PLACES: Readonly<Record<string, readonly [section: string, name: string]>> = {
  evt: ["events", "event"],
  apr: ["approvals", "approval"],
  bun: ["bundles", "bundle"],
  rpl: ["replays", "replay"],
  src: ["sources", "source"],
  end: ["endpoints", "endpoint"],
  agt: ["agents", "agent"],
  pol: ["policies", "policy"],
};
const ID = /^([a-z]{3})_[0-9a-z]+$/;

const entriesFor = (text: string): readonly PaletteEntry[] => {
  const items = navGroups().flatMap((it) => it.items);
  const [section, name] = PLACES[ID.exec(text.trim())?.[1] ?? ""] ?? [];
  const pages = items
    .filter(({ title }) => title.toLowerCase().includes(text.trim().toLowerCase()))
    .map(({ section: icon, title, key }) => ({
      ...{ key: icon, icon, name: title, beside: `g ${key}`, group: "Pages" },
      onChoose: () => go(`/${icon}`),
    }));
  if (section === undefined) return pages;
  const onChoose = (): void => go(`/${section}/${text.trim()}`);
  return [
    { key: "id", icon: section, name: `Open ${name} ${text.trim()}`, beside: "", group: "Things", onChoose },
    ...pages,
  ];
};

const KEYS = [
  ["/", "Focus the page's search"],
  ["⌘K or Ctrl K", "Search or jump to"],
  ["g, then a letter", "Go to a page"],
  ["j k", "Next and previous row"],
  ["Enter or o", "Open the row"],
  [".", "Show the new rows"],
  ["[ ]", "Previous and next attempt of an event"],
  ["f y", "An event: search in the payload, copy the id"],
  ["a r c", "An open approval: begin to approve, to reject, to comment"],
  ["v", "Audit: check the proof of the record again"],
  ["Esc", "Close the top layer"],
] as const;

const AllKeys = ({ onClose }: { readonly onClose: () => void }) => (
  <Layer label="All keys" kind="sheet" onClose={onClose}>
    <dl class="facts">
      {KEYS.map(([key, what]) => (
        <>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </>
      ))}
    </dl>
  </Layer>
);

/** The button and the key that open one field over everything. */
export const JumpPalette = () => {
  const [open, setOpen] = useState<"palette" | "keys" | null>(null);
  const [text, setText] = useState("");
  const close = (): void => setOpen(null);
  useKeys({ "?": () => setOpen("keys") });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOpen("palette");
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <button class="find" type="button" onClick={() => setOpen("palette")}>
        <Icon name="search" />
        <span>Search or jump to</span>
        <span class="vh"> (Control K)</span>
        <kbd>⌘K</kbd>
      </button>
      {open === "palette" ? <Palette find={setText} entries={entriesFor(text)} onClose={close} /> : null}
      {open === "keys" ? <AllKeys onClose={close} /> : null}
    </>
  );
};
