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

/**
 * An address without a thing; nothing tells whether an id exists in another account. The ways on are the list of the kind
 * that was asked for, and the search over everything.
 */
const NotFound = () => {
  const [, section = "", part] = place.value.path.split("/");
  const kind = part === "actions" ? part : section;
  const isList = LISTS.includes(section);
  return (
    <>
      <Head title="Not found" meta={<span>There is nothing at this address in {me.value?.account.name}.</span>} />
      <p class="row">
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
      </p>
    </>
  );
};

export default NotFound;
