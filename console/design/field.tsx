import { useId, useState } from "preact/hooks";
import { expectedIn } from "./field-faults.ts";
import { Mark } from "./mark.tsx";

type FieldProps = {
  readonly label: string;
  readonly name: string;
  readonly type?: "text" | "email" | "password" | "number" | "url" | "date";
  readonly value?: string;
  readonly autocomplete?: string;
  readonly hint?: string;
  /** What to write instead; the field is marked while it is not null. */
  readonly fault?: string | null;
  readonly required?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** What is offered; anything else can be written, too. */
  readonly list?: readonly string[];
};

type SaidProps = { readonly id: string; readonly hint: string | undefined; readonly fault: string | null };

const Said = ({ id, hint, fault }: SaidProps) => (
  <div id={`${id}-said`}>
    {fault === null ? null : (
      <p class="err">
        <Mark name="failed" role="fail" />
        <span>{fault}</span>
      </p>
    )}
    {hint === undefined || fault !== null ? null : <p class="hint">{hint}</p>}
  </div>
);

/** A field with its label, and below it a hint or what to write instead. The form reads its value by the name. */
export const Field = ({
  label,
  hint,
  fault: told = null,
  type = "text",
  value,
  autocomplete,
  list,
  ...rest
}: FieldProps) => {
  const id = useId();
  /** Found by the browser, before anything is sent; what the service refused is told by the page. */
  const [found, setFound] = useState<string | null>(null);
  const fault = found ?? told;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="in"
        // Preact has one type of attributes for each kind of input; what is given here suits all of them.
        type={type as "text"}
        defaultValue={value}
        autocomplete={autocomplete}
        aria-invalid={fault !== null}
        aria-describedby={`${id}-said`}
        onInvalid={(event) => {
          // In place of the browser's own bubble, which would also move the focus.
          event.preventDefault();
          const { currentTarget: field } = event;
          setFound(expectedIn(field.validity, { type, ...rest }));
          if (field.form?.querySelector("input:invalid") === field) field.focus();
        }}
        onInput={() => setFound(null)}
        list={list === undefined ? undefined : `${id}-list`}
        {...rest}
      />
      {list === undefined ? null : (
        <datalist id={`${id}-list`}>
          {list.map((it) => (
            <option key={it} value={it} />
          ))}
        </datalist>
      )}
      <Said id={id} hint={hint} fault={fault} />
    </div>
  );
};

type AreaProps = Pick<FieldProps, "label" | "name" | "value" | "hint" | "fault"> & {
  readonly rows?: number;
  readonly isCode?: boolean;
};

/** Text of several lines, with its label. */
export const Area = ({ label, name, value, hint, fault = null, rows = 3, isCode = false }: AreaProps) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class={isCode ? "in mono" : "in"}
        name={name}
        rows={rows}
        spellcheck={!isCode}
        defaultValue={value}
        aria-invalid={fault !== null}
        aria-describedby={`${id}-said`}
      />
      <Said id={id} hint={hint} fault={fault} />
    </div>
  );
};

/** The texts of a form's fields, by name; empty ones are left out. */
export const fieldsOf = (form: HTMLFormElement): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...new FormData(form)].flatMap(([name, value]) =>
      typeof value === "string" && value !== "" ? [[name, value]] : [],
    ),
  );

type SelectProps = {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly choices: readonly { readonly value: string; readonly word: string }[];
  readonly hint?: string;
};

/** One of a few values. The form reads it by the name. */
export const Select = ({ label, name, value, choices, hint }: SelectProps) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} class="in" name={name} aria-describedby={hint === undefined ? undefined : `${id}-said`}>
        {choices.map((it) => (
          // The default is what a form returns to when it is reset; without one that is the first choice.
          <option
            key={it.value}
            value={it.value}
            {...{ defaultSelected: it.value === value }}
            selected={it.value === value}
          >
            {it.word}
          </option>
        ))}
      </select>
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-said`}>
          {hint}
        </p>
      )}
    </div>
  );
};
