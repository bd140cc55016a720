import { useState } from "preact/hooks";
import { Layer } from "../../design/layer.tsx";
import { ErrorText } from "../../design/text.tsx";
import { changePreferences } from "../shell/preferences.ts";

export type ColumnsOf = {
  /** The name by which the member's choice is kept. */
  readonly list: string;
  readonly names: readonly string[];
  /** Those that cannot be hidden. */
  readonly kept: ReadonlySet<string>;
  readonly hidden: readonly string[];
};

/** Chooses the columns of a list; each choice is kept at once, with the member's preferences. */
export const ColumnsLayer = ({ list, names, kept, hidden, onClose }: ColumnsOf & { readonly onClose: () => void }) => {
  const [fault, setFault] = useState<string | null>(null);
  const hide = async (columns: readonly string[]): Promise<void> => {
    const answer = await changePreferences(({ hidden_columns: all }) => ({
      hidden_columns: [...all.filter((it) => it.list !== list), ...(columns.length === 0 ? [] : [{ list, columns }])],
    }));
    setFault(answer.ok ? null : answer.problem.detail);
  };
  return (
    <Layer label={`Columns of ${list}`} kind="sheet" onClose={onClose}>
      <h3>Columns</h3>
      <div class="stack tight">
        {names.map((name) => (
          <label key={name} class="row tight">
            <input
              type="checkbox"
              checked={kept.has(name) || !hidden.includes(name)}
              disabled={kept.has(name)}
              onChange={({ currentTarget: { checked } }) =>
                void hide(checked ? hidden.filter((it) => it !== name) : [...hidden, name])
              }
            />
            {name}
          </label>
        ))}
      </div>
      <ErrorText text={fault} />
      <div class="row">
        <button class="btn bare" type="button" onClick={() => void hide([])}>
          Show all
        </button>
        <button class="btn end" type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Layer>
  );
};
