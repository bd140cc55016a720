import { useId } from "preact/hooks";
import { Mark } from "./mark.tsx";

type FieldProps = {
  readonly label: string;
  readonly name: string;
  readonly type?: "text" | "email" | "password" | "number" | "url";
  readonly value?: string;
  readonly autocomplete?: string;
  readonly hint?: string;
  /** What to write instead; the field is marked while it is not null. */
  readonly fault?: string | null;
  readonly required?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
};

/** A field with its label, and below it a hint or what to write instead. The form reads its value by the name. */
export const Field = ({ label, hint, fault = null, type = "text", value, autocomplete, ...rest }: FieldProps) => {
  const id = useId();
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
        {...rest}
      />
      <div id={`${id}-said`}>
        {fault === null ? null : (
          <p class="err">
            <Mark name="failed" role="fail" />
            <span>{fault}</span>
          </p>
        )}
        {hint === undefined || fault !== null ? null : <p class="hint">{hint}</p>}
      </div>
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
