import { useEffect, useId, useState } from "preact/hooks";
import { Layer } from "./layer.tsx";
import { Icon } from "./mark.tsx";

export type PaletteEntry = {
  readonly key: string;
  readonly icon: string;
  readonly name: string;
  /** At the right: a state, a role, or a key. */
  readonly beside: string;
  readonly group: string;
  readonly onChoose: () => void;
};

type PaletteProps = {
  /** Called after each change; an answer to an older text is ignored by the caller. */
  readonly find: (text: string) => void;
  readonly entries: readonly PaletteEntry[];
  readonly onClose: () => void;
};

const groupsOf = (entries: readonly PaletteEntry[]): readonly string[] => [...new Set(entries.map((it) => it.group))];

/** One field over everything. It opens pages and confirmations; it never acts by itself. */
export const Palette = ({ find, entries, onClose }: PaletteProps) => {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  useEffect(() => {
    find(text);
    setAt(0);
  }, [text]);
  const choose = (entry: PaletteEntry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.onChoose();
  };
  return (
    <Layer label="Search or jump to" kind="pal" onClose={onClose}>
      <input
        class="in"
        role="combobox"
        aria-label="Search or jump to"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={entries[at] === undefined ? undefined : `${list}-${at}`}
        placeholder="A name, an id, a page"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (by !== 0) setAt(Math.min(entries.length - 1, Math.max(0, at + by)));
          else if (event.key === "Enter") choose(entries[at]);
          else return;
          event.preventDefault();
        }}
      />
      <div id={list} role="listbox" aria-label="Results">
        {groupsOf(entries).map((group) => (
          <ul key={group} role="group" aria-label={group}>
            {entries.map((entry, index) =>
              entry.group === group ? (
                <li
                  key={entry.key}
                  id={`${list}-${index}`}
                  role="option"
                  aria-selected={index === at}
                  onClick={() => choose(entry)}
                >
                  <Icon name={entry.icon} />
                  <span>{entry.name}</span>
                  <span>{entry.beside}</span>
                </li>
              ) : null,
            )}
          </ul>
        ))}
        {entries.length === 0 ? (
          <ul role="group" aria-label="Nothing">
            <li role="option" aria-selected="false">
              <span>Nothing has this name or id.</span>
            </li>
          </ul>
        ) : null}
      </div>
    </Layer>
  );
};
