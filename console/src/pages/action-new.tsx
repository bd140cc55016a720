import { Head } from "../../design/text.tsx";
import { useCrumbName } from "../shell/crumb-name.ts";
import { go } from "../shell/router.ts";
import { ActionForm } from "./action-form.tsx";

/** What may agents ask for? */
export const ActionNew = () => {
  useCrumbName("New action");
  return (
    <>
      <Head title="New action" meta={<span>Agents ask for it by name; where it is sent, they do not know.</span>} />
      <ActionForm
        action={null}
        onDone={(name) => go(`/agents/actions/${encodeURIComponent(name)}`, { isReplaced: true })}
      />
    </>
  );
};
