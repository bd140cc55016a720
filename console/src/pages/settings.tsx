import { Head } from "../../design/text.tsx";
import { me } from "../api/api.ts";
import { SECTIONS } from "./settings-frame.tsx";

/** Who may do what, and how am I reached? */
const Settings = () => (
  <>
    <Head title="Settings" meta={<span>{me.value?.account.name}</span>} />
    <nav aria-label="Sections of the settings">
      <ul class="places narrow">
        {SECTIONS.map(({ name, title, text }) => (
          <li key={name}>
            <a href={`/settings/${name}`}>
              <b>{title}</b>
              <span class="soft">{text}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  </>
);

export default Settings;
