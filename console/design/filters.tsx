import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { useKeys } from "./keys.ts";
import { Layer } from "./layer.tsx";
import { Icon } from "./mark.tsx";

export type FilterChoice = { readonly value: string; readonly word: string };

export type Filter = {
  /** The name in the address, which is the API's. */
  readonly name: string;
  readonly label: string;
  readonly choices: readonly FilterChoice[];
  /** What else is expected, for a value that is not among the choices; null if any other text is taken. */
  readonly expects: string | null;
};

export type FilterValues = Readonly<Record<string, string | undefined>>;

/** Null for a value that the filter takes, else a sentence that says what is expected. */
export const faultOf = ({ choices, expects }: Filter, value: string): string | null =>
  expects === null || value.split(",").every((one) => choices.some((it) => it.value === one)) ? null : expects;

/** Several values of one filter are joined by commas: any of them matches. */
const wordsOf = ({ choices }: Filter, value: string): string =>
  value
    .split(",")
    .map((one) => choices.find((it) => it.value === one)?.word ?? one)
    .join(", ");

type FilterBarProps = {
  readonly label: string;
  readonly hint: string;
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
  /** A value of undefined removes the filter. */
  readonly onChange: (values: FilterValues) => void;
  /** Stands at the end, such as the order of the list. */
  readonly children?: ComponentChildren;
};

type ChipProps = {
  readonly filter: Filter;
  readonly value: string;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
};

const Chip = ({ filter, value, onEdit, onRemove }: ChipProps) => {
  const fault = faultOf(filter, value);
  const word = wordsOf(filter, value);
  return (
    <span class={`chip ${fault === null ? "" : "bad"}`} title={fault ?? undefined}>
      <button type="button" onClick={onEdit}>
        <span class="vh">Change filter </span>
        <span class="soft">{filter.label}</span> <b>{word}</b>
      </button>
      <button class="x" type="button" aria-label={`Remove filter ${filter.label}`} onClick={onRemove}>
        <Icon name="x" small />
      </button>
    </span>
  );
};

type ChooserProps = {
  readonly filter: Filter;
  readonly value: string;
  readonly onChoose: (value: string | undefined) => void;
  readonly onClose: () => void;
};

const Chooser = ({ filter, value, onChoose, onClose }: ChooserProps) => {
  const [search, setSearch] = useState("");
  const field = useId();
  const found = filter.choices.filter((it) => it.word.toLowerCase().includes(search.toLowerCase()));
  return (
    <Layer label={`Filter by ${filter.label}`} kind="sheet" onClose={onClose}>
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          const only = filter.expects === null && search !== "" ? search : found[0]?.value;
          if (only !== undefined) onChoose(only);
        }}
      >
        <label for={field}>{filter.label}</label>
        <input id={field} class="in" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </form>
      <ul class="choices">
        {found.map((it) => (
          <li key={it.value}>
            <button type="button" aria-pressed={it.value === value} onClick={() => onChoose(it.value)}>
              {it.word}
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        <button class="btn bare" type="button" onClick={() => onChoose(undefined)}>
          Any
        </button>
        <button class="btn end" type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Layer>
  );
};

/** The search field and the chips of a list. What is set is in the address, so this only shows and asks for changes. */
export const FilterBar = ({ label, hint, filters, values, onChange, children }: FilterBarProps) => {
  const [open, setOpen] = useState<string | null>(null);
  const search = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => search.current?.focus() });
  const set = filters.filter(({ name }) => values[name] !== undefined);
  const unset = filters.filter(({ name }) => values[name] === undefined);
  const edited = filters.find(({ name }) => name === open);
  const faults = set.flatMap((it) => faultOf(it, values[it.name] ?? "") ?? []);
  const clear = (): void =>
    onChange(Object.fromEntries([...set.map(({ name }) => [name, undefined]), ["q", undefined]]));
  return (
    <div class="stack tight">
      <search>
        <form
          class="chips"
          aria-label={label}
          onSubmit={(event) => {
            event.preventDefault();
            onChange({ q: search.current?.value || undefined });
          }}
        >
          <div class="find">
            <Icon name="search" />
            <input
              ref={search}
              class="bare"
              aria-label={hint}
              placeholder={hint}
              defaultValue={values.q ?? ""}
              key={values.q ?? ""}
            />
            <kbd>/</kbd>
          </div>
          {set.map((filter) => (
            <Chip
              key={filter.name}
              filter={filter}
              value={values[filter.name] ?? ""}
              onEdit={() => setOpen(filter.name)}
              onRemove={() => onChange({ [filter.name]: undefined })}
            />
          ))}
          {unset.map(({ name, label: word }) => (
            <span key={name} class="chip off">
              <button type="button" onClick={() => setOpen(name)}>
                {word}
              </button>
            </span>
          ))}
          <span class="chip phone">
            <button type="button" onClick={() => setOpen("*")}>
              Filters <b>{set.length}</b>
            </button>
          </span>
          {set.length === 0 && values.q === undefined ? null : (
            <button class="btn bare" type="button" onClick={clear}>
              Clear
            </button>
          )}
          {children}
        </form>
      </search>
      {faults.map((it) => (
        <p key={it} class="err" role="alert">
          {it}
        </p>
      ))}
      {open === "*" ? (
        <Layer label={label} kind="sheet" onClose={() => setOpen(null)}>
          <ul class="choices">
            {filters.map(({ name, label: word }) => (
              <li key={name}>
                <button type="button" aria-pressed={values[name] !== undefined} onClick={() => setOpen(name)}>
                  {word} {values[name] === undefined ? "" : `: ${values[name]}`}
                </button>
              </li>
            ))}
          </ul>
        </Layer>
      ) : null}
      {edited === undefined ? null : (
        <Chooser
          filter={edited}
          value={values[edited.name] ?? ""}
          onChoose={(value) => {
            setOpen(null);
            onChange({ [edited.name]: value });
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
};
