import type { ComponentChildren } from "preact";
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks";
import { type Filter, type FilterValues, faultOf, faultsOf, isSetIn, namesOf, wordsOf } from "./filter-values.ts";
import { useKeys } from "./keys.ts";
import { Layer } from "./layer.tsx";
import { Icon } from "./mark.tsx";
import { ClockContext, ErrorText } from "./text.tsx";
import type { TimeChooser as TimeChooserOf } from "./time-chooser.tsx";

type FilterBarProps = {
  readonly label: string;
  /** What the search finds; left out: the list has none. */
  readonly hint?: string;
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
  /** A value of undefined removes the filter. */
  readonly onChange: (values: FilterValues) => void;
  /** Stands at the end, such as the order of the list. */
  readonly children?: ComponentChildren;
};

type ChipProps = {
  readonly filter: Filter;
  readonly values: FilterValues;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
};

const Chip = ({ filter, values, onEdit, onRemove }: ChipProps) => {
  const fault = faultOf(filter, values);
  const word = wordsOf(filter, values, useContext(ClockContext));
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
  readonly onChoose: (value: string | undefined, isDone: boolean) => void;
  readonly onClose: () => void;
};

const Chooser = ({ filter, value, onChoose, onClose }: ChooserProps) => {
  const [search, setSearch] = useState("");
  const field = useId();
  const chosen = value === "" ? [] : value.split(",");
  /** Of a filter with several values, a choice is added or taken away, and the layer stays. */
  const choose = (one: string): void => {
    if (filter.isSeveral !== true) {
      onChoose(one, true);
      return;
    }
    const kept = chosen.includes(one) ? chosen.filter((it) => it !== one) : [...chosen, one];
    onChoose(kept.length === 0 ? undefined : kept.join(","), false);
  };
  const found = filter.choices.filter((it) => it.word.toLowerCase().includes(search.toLowerCase()));
  return (
    <Layer label={`Filter by ${filter.label}`} kind="sheet" onClose={onClose}>
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          const isFree = filter.expects === null || filter.choices.length === 0;
          const only = isFree && search !== "" ? search : found[0]?.value;
          if (only !== undefined) onChoose(only, true);
        }}
      >
        <label for={field}>{filter.label}</label>
        <input id={field} class="in" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </form>
      <ul class="choices">
        {found.map((it) => (
          <li key={it.value}>
            <button type="button" aria-pressed={chosen.includes(it.value)} onClick={() => choose(it.value)}>
              {it.word}
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        <button class="btn bare" type="button" onClick={() => onChoose(undefined, true)}>
          Any
        </button>
        <button class="btn end" type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Layer>
  );
};

type TimeFilter = Filter & Required<Pick<Filter, "startOf">>;

const isOfTime = (filter: Filter): filter is TimeFilter => filter.startOf !== undefined;

type ChooseTimeProps = Omit<Parameters<typeof TimeChooserOf>[0], "label" | "choices" | "startOf"> & {
  readonly filter: TimeFilter;
};

/** The chooser of a time comes when it is first opened: the sign-in page loads these files, too. */
const ChooseTime = ({ filter: { label, choices, startOf }, ...rest }: ChooseTimeProps) => {
  const [loaded, setLoaded] = useState<{ readonly TimeChooser: typeof TimeChooserOf } | "failed" | null>(null);
  useEffect(() => {
    import("./time-chooser.tsx").then(setLoaded, () => setLoaded("failed"));
  }, []);
  if (loaded === null) return null;
  if (loaded !== "failed") return <loaded.TimeChooser label={label} choices={choices} startOf={startOf} {...rest} />;
  return <ErrorText text="The choice of a time could not be loaded. Load the page again." />;
};

/** The search field and the chips of a list. What is set is in the address, so this only shows and asks for changes. */
export const FilterBar = ({ label, hint, filters, values, onChange, children }: FilterBarProps) => {
  const [open, setOpen] = useState<string | null>(null);
  const search = useRef<HTMLInputElement>(null);
  useKeys(hint === undefined ? {} : { "/": () => search.current?.focus() });
  const set = filters.filter((it) => isSetIn(it, values));
  const unset = filters.filter((it) => !isSetIn(it, values));
  const edited = filters.find(({ name }) => name === open);
  const clock = useContext(ClockContext);
  const remove = (...removed: readonly Filter[]): FilterValues =>
    Object.fromEntries(removed.flatMap(namesOf).map((name) => [name, undefined]));
  const clear = (): void => onChange({ ...remove(...set), q: undefined });
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
          {hint === undefined ? null : (
            <div class="find">
              <Icon name="search" />
              <input
                ref={search}
                class="bare"
                aria-label={hint}
                placeholder={hint}
                defaultValue={values.q ?? ""}
                key={values.q ?? ""}
                onKeyDown={({ key, currentTarget }) => {
                  const last = set.at(-1);
                  if (key === "Backspace" && currentTarget.value === "" && last !== undefined) onChange(remove(last));
                }}
              />
              <kbd>/</kbd>
            </div>
          )}
          {set.map((filter) => (
            <Chip
              key={filter.name}
              filter={filter}
              values={values}
              onEdit={() => setOpen(filter.name)}
              onRemove={() => onChange(remove(filter))}
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
      {faultsOf(filters, values).map((it) => (
        <ErrorText key={it} text={it} />
      ))}
      {open === "*" ? (
        <Layer label={label} kind="sheet" onClose={() => setOpen(null)}>
          <ul class="choices">
            {filters.map((it) => (
              <li key={it.name}>
                <button type="button" aria-pressed={set.includes(it)} onClick={() => setOpen(it.name)}>
                  {it.label}
                  {set.includes(it) ? `: ${wordsOf(it, values, clock)}` : ""}
                </button>
              </li>
            ))}
          </ul>
        </Layer>
      ) : null}
      {edited === undefined ? null : !isOfTime(edited) ? (
        <Chooser
          filter={edited}
          value={values[edited.name] ?? ""}
          onChoose={(value, isDone) => {
            if (isDone) setOpen(null);
            onChange({ [edited.name]: value });
          }}
          onClose={() => setOpen(null)}
        />
      ) : (
        <ChooseTime
          filter={edited}
          values={values}
          onChoose={(chosen) => {
            setOpen(null);
            onChange(chosen);
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
};

type AddressFaultsProps = Pick<FilterBarProps, "filters" | "values" | "onChange">;

/** On a page without a filter bar: what its address says and the page does not take, and what is expected; else nothing. */
export const AddressFaults = ({ filters, values, onChange }: AddressFaultsProps) => {
  const faulty = filters.filter((it) => faultOf(it, values) !== null);
  if (faulty.length === 0) return null;
  const named = Object.fromEntries(faulty.flatMap(namesOf).map((name) => [name, values[name]]));
  return <FilterBar label="What the address says" filters={faulty} values={named} onChange={onChange} />;
};
