import { useEffect, useState } from "preact/hooks";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { ErrorText, Section } from "../../design/text.tsx";
import type { Problem } from "../api/calls.ts";
import { changePreferences, type Preferences, preferences, readPreferences } from "../shell/preferences.ts";
import { SettingsFrame } from "./settings-frame.tsx";

const SCHEMES = [
  { value: "system", word: "As the system" },
  { value: "light", word: "Light" },
  { value: "dark", word: "Dark" },
] as const;
const DENSITIES = [
  { value: "comfortable", word: "Comfortable" },
  { value: "compact", word: "Compact" },
] as const;

type PickProps<Value extends string> = {
  readonly legend: string;
  readonly name: string;
  readonly value: Value;
  readonly choices: readonly { readonly value: Value; readonly word: string }[];
  readonly onPick: (value: Value) => void;
};

const Pick = <Value extends string>({ legend, name, value, choices, onPick }: PickProps<Value>) => (
  <fieldset class="stack tight">
    <legend class="lab">{legend}</legend>
    <div class="pick three">
      {choices.map((it) => (
        <label key={it.value}>
          <input type="radio" name={name} checked={it.value === value} onChange={() => onPick(it.value)} />
          {it.word}
        </label>
      ))}
    </div>
  </fieldset>
);

const Chosen = ({ now }: { readonly now: Preferences }) => {
  const [fault, setFault] = useState<string | null>(null);
  const set = async (to: Parameters<typeof changePreferences>[0]): Promise<void> => {
    const answer = await changePreferences(to);
    setFault(answer.ok ? null : answer.problem.detail);
  };
  return (
    <Section title="How you want the console" beside={<span class="meta">saved as you choose, for you only</span>}>
      <div class="stack">
        <ErrorText text={fault} />
        <Pick
          legend="Colours"
          name="scheme"
          value={now.scheme}
          choices={SCHEMES}
          onPick={(scheme) => void set({ scheme })}
        />
        <Pick
          legend="Rows of lists"
          name="density"
          value={now.density}
          choices={DENSITIES}
          onPick={(density) => void set({ density })}
        />
        <fieldset class="stack tight">
          <legend class="lab">Keys</legend>
          <label class="row tight">
            <input type="checkbox" checked={now.letters} onChange={() => void set({ letters: !now.letters })} />
            <span>
              Single letters are keys, such as <kbd>J</kbd> and <kbd>K</kbd> in lists
            </span>
          </label>
        </fieldset>
      </div>
    </Section>
  );
};

const PreferencesPage = () => {
  const [problem, setProblem] = useState<Problem | null>(null);
  const now = preferences.value;
  const retry = async (): Promise<void> => {
    const answer = await readPreferences();
    setProblem(answer.ok ? null : answer.problem);
  };
  useEffect(() => void retry(), []);
  return (
    <SettingsFrame name="preferences">
      {problem === null ? null : (
        <LoadError what="Your preferences" failure={problem} since={null} onRetry={() => void retry()} />
      )}
      {now === null ? problem === null ? <Loading rows={3} /> : null : <Chosen now={now} />}
    </SettingsFrame>
  );
};

export default PreferencesPage;
