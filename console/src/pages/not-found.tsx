import { Head } from "../../design/text.tsx";
import { me } from "../api/api.ts";
import { HOME } from "../shell/addresses.ts";
import { openLayer } from "../shell/frame-state.ts";
import { place } from "../shell/router.ts";

const LISTS = [
  ...["events", "approvals", "bundles", "replays"],
  ...["sources", "endpoints", "agents", "policies", "settings"],
];
/** Lists whose address is not the first part of the addresses of their things. */
const ELSEWHERE: Readonly<Record<string, string>> = { actions: "/agents?tab=actions", approvals: "/approvals?for=any" };

/** Nothing tells whether an id exists in another account. */
export const nothingHere = (): string => `There is nothing at this address in ${me.value?.account.name}.`;

/** The ways on: the list of the kind that was asked for, and the search over everything. */
export const WaysOn = () => {
  const [, section = "", part] = place.value.path.split("/");
  const kind = part === "actions" ? part : section;
  const isList = LISTS.includes(section);
  return (
    <>
      <a class="btn first" href={isList ? (ELSEWHERE[kind] ?? `/${section}`) : HOME}>
        {isList ? `All ${kind}` : "Overview"}
      </a>
      <button
        class="btn"
        type="button"
        onClick={() => {
          openLayer.value = "palette";
        }}
      >
        Search or jump to…
      </button>
    </>
  );
};

export const NotFound = () => (
  <>
    <Head title="Not found" meta={<span>{nothingHere()}</span>} />
    <p class="row">
      <WaysOn />
    </p>
  </>
);

export default NotFound;
