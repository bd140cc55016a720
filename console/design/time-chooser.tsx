import { useContext, useState } from "preact/hooks";
import { around } from "./around.ts";
import { EXPECTED_ORDER, type FilterChoice, type FilterValues } from "./filter-values.ts";
import { Layer } from "./layer.tsx";
import { ClockContext, copy, ErrorText } from "./text.tsx";
import { localOf, momentOf } from "./zoned.ts";

type TimeChooserProps = {
  readonly label: string;
  /** Relative ranges. */
  readonly choices: readonly FilterChoice[];
  readonly values: FilterValues;
  /** The first moment of a relative range at the present. */
  readonly startOf: (range: string) => string | undefined;
  readonly onChoose: (values: FilterValues) => void;
  readonly onClose: () => void;
};

const NO_TIME = { range: undefined, from: undefined, to: undefined };

/** The address of this page with the relative range as the moments that it has now. */
const fixedAddress = (from: string | undefined): string => {
  const address = new URL(location.href);
  address.searchParams.delete("range");
  if (from !== undefined) address.searchParams.set("from", from);
  address.searchParams.set("to", new Date().toISOString());
  return address.href;
};

/** A relative range, two moments in the account's zone, or the minutes around one. */
export const TimeChooser = ({ label, choices, values, startOf, onChoose, onClose }: TimeChooserProps) => {
  const { zone } = useContext(ClockContext);
  const { range } = values;
  const [isCopied, setCopied] = useState(false);
  const [isWrong, setWrong] = useState(false);
  const submit = (form: HTMLFormElement): void => {
    const given = new FormData(form);
    const [from, to] = ["from", "to"].map((name) => momentOf(String(given.get(name) ?? ""), zone) ?? undefined);
    if (from !== undefined && to !== undefined && from >= to) setWrong(true);
    else onChoose({ range: undefined, from, to });
  };
  const submitMoment = (form: HTMLFormElement): void => {
    const moment = momentOf(String(new FormData(form).get("moment") ?? ""), zone);
    if (moment !== null) onChoose({ range: undefined, ...around(moment) });
  };
  return (
    <Layer label={`Filter by ${label}`} kind="sheet" onClose={onClose}>
      <h3>{label}</h3>
      <ul class="choices">
        {choices.map((it) => (
          <li key={it.value}>
            <button
              type="button"
              aria-pressed={it.value === range}
              onClick={() => onChoose({ ...NO_TIME, range: it.value })}
            >
              {it.word}
            </button>
          </li>
        ))}
      </ul>
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          submitMoment(event.currentTarget);
        }}
      >
        <label class="field">
          <span>
            Around this moment <span class="soft">in {zone}</span>
          </span>
          <input class="in" type="datetime-local" step="1" name="moment" required />
        </label>
        <div class="row">
          <button class="btn" type="submit">
            5 min before and after
          </button>
        </div>
      </form>
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          submit(event.currentTarget);
        }}
      >
        {(["from", "to"] as const).map((name) => (
          <label key={name} class="field">
            <span>
              {name === "from" ? "From" : "To, excluded"} <span class="soft">in {zone}</span>
            </span>
            <input
              class="in"
              type="datetime-local"
              step="1"
              name={name}
              defaultValue={localOf(values[name] ?? "", zone)}
              onInput={() => setWrong(false)}
            />
          </label>
        ))}
        {isWrong ? <ErrorText text={EXPECTED_ORDER} /> : null}
        <div class="row">
          <button class="btn bare" type="button" onClick={() => onChoose(NO_TIME)}>
            Any time
          </button>
          {range === undefined ? null : (
            <button
              class="btn bare"
              type="button"
              onClick={() => {
                copy(fixedAddress(startOf(range)));
                setCopied(true);
              }}
            >
              {isCopied ? "The link is copied" : "Copy link to this moment"}
            </button>
          )}
          <button class="btn end" type="button" onClick={onClose}>
            Close
          </button>
          <button class="btn first" type="submit">
            Show
          </button>
        </div>
      </form>
    </Layer>
  );
};
