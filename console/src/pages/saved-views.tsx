import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { Layer } from "../../design/layer.tsx";
import { toast } from "../../design/toast.tsx";
import { whenSized } from "../../design/use-width.ts";
import { me } from "../api/api.ts";
import type { Problem } from "../api/calls.ts";
import { changePreferences, preferences } from "../shell/preferences.ts";

export type FixedView = {
  readonly name: string;
  readonly address: string;
  /** How many there are; left out if they are not counted. */
  readonly count?: string | undefined;
};

const NAME_MAX = 80;

const Save = ({ address, onClose }: { readonly address: string; readonly onClose: () => void }) => {
  const [fault, setFault] = useState<Problem | null>(null);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const { name = "" } = fieldsOf(form);
    const shared = new FormData(form).has("shared");
    const answer = await changePreferences(({ views }) => ({ views: [...views, { name, address, shared }] }));
    if (!answer.ok) return setFault(answer.problem);
    toast.value = { text: `The view ${name} is saved.` };
    onClose();
  };
  return (
    <Layer label="Save this view" kind="box" onClose={onClose}>
      <h3>Save this view</h3>
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field label="Name" name="name" required maxLength={NAME_MAX} fault={fault?.detail ?? null} />
        <label class="row tight">
          <input type="checkbox" name="shared" />
          <span>Everybody in {me.value?.account.name} sees it</span>
        </label>
        <div class="row">
          <button class="btn" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="btn first end" type="submit">
            Save
          </button>
        </div>
      </form>
    </Layer>
  );
};

type ViewsProps = {
  readonly fixed: readonly FixedView[];
  /** The address of what is shown, without the selected row. */
  readonly address: string;
  /** True if the address has a value that its list does not take: it is not saved. */
  readonly isWrong: boolean;
};

/** Addresses with a name, as tabs over a list: those that every account has, one's own, and what others share. */
export const SavedViews = ({ fixed, address, isWrong }: ViewsProps) => {
  const [isSaving, setSaving] = useState(false);
  const tabs = useRef<HTMLElement>(null);
  // On a narrow window the tabs scroll, and the current one may stand beyond the edge.
  useLayoutEffect(() => {
    const { current } = tabs;
    if (current === null) return;
    return whenSized(current, () => {
      const here = current.querySelector<HTMLElement>("[aria-current]");
      if (here !== null) current.scrollLeft = here.offsetLeft - current.offsetLeft;
    });
  }, [address]);
  const [list = "/"] = address.split("?");
  const isOfList = (it: FixedView): boolean => it.address === list || it.address.startsWith(`${list}?`);
  const own = (preferences.value?.views ?? []).filter(isOfList);
  const others = (preferences.value?.shared_views ?? []).filter(isOfList);
  const isFixed = fixed.some((it) => it.address === address);
  const current = own.find((it) => it.address === address);
  const isKnown = isFixed || current !== undefined || others.some((it) => it.address === address);
  const remove = async ({ name }: FixedView): Promise<void> => {
    const answer = await changePreferences(({ views }) => ({
      views: views.filter((it) => it.name !== name || it.address !== address),
    }));
    toast.value = { text: answer.ok ? `The view ${name} is removed.` : answer.problem.detail };
  };
  return (
    <div class="views">
      <nav class="tabs" aria-label="Views" ref={tabs}>
        {[...fixed, ...own, ...others].map((it) => (
          <a
            key={`${it.name} ${it.address}`}
            href={it.address}
            aria-current={it.address === address ? "page" : undefined}
          >
            {it.name} {"count" in it && it.count !== undefined ? <span class="n">{it.count}</span> : null}
          </a>
        ))}
      </nav>
      {isKnown || isWrong || preferences.value === null ? null : (
        <button class="btn bare" type="button" onClick={() => setSaving(true)}>
          Save this view…
        </button>
      )}
      {current === undefined ? null : (
        <button class="btn bare" type="button" onClick={() => void remove(current)}>
          Remove this view
        </button>
      )}
      {isSaving ? <Save address={address} onClose={() => setSaving(false)} /> : null}
    </div>
  );
};
