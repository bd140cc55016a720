import { Breaking, Facts, Head, Section, Time, Zone } from "../../design/text.tsx";
import { JsonTree } from "../../design/tree.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { isNameSettled, useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { costText, undoText } from "./action-definition.ts";
import { ActionForm } from "./action-form.tsx";
import { Thing } from "./listing.tsx";

type Action = AnswerOf<"GET /v1/actions/{name}">;

const LIST = hrefOf("/agents", { tab: "actions" });

const Definition = ({ action }: { readonly action: Action }) => {
  const nameOf = useNames();
  const { endpoint_id: endpoint, policy_id: policy, compensation } = action;
  return (
    <Section title="What it is">
      <Facts
        rows={[
          ["Sentence that people approve", action.title ?? "none: “An agent asks for this action”"],
          ["Endpoint", <a href={`/endpoints/${encodeURIComponent(endpoint)}`}>{nameOf(endpoint) ?? "its endpoint"}</a>],
          ["Cost", costText(action.cost)],
          [
            "Undo",
            compensation === undefined ? (
              undoText(action)
            ) : (
              <>
                Undone by <a href={`/agents/actions/${encodeURIComponent(compensation)}`}>{compensation}</a>
              </>
            ),
          ],
          ["Policy", policy === undefined || policy === null ? "none" : (nameOf(policy) ?? "its policy")],
        ]}
      />
      <p class="row">
        <a class="btn" href={hrefOf("/events", { action: action.name })}>
          Its events
        </a>
        <a class="btn" href={hrefOf("/events", { action: action.name, status: "blocked" })}>
          Refused requests
        </a>
      </p>
    </Section>
  );
};

const Fields = ({ action }: { readonly action: Action }) => {
  const labels = Object.entries(action.labels ?? {});
  return (
    <>
      {labels.length === 0 ? null : (
        <Section title="Names of its fields">
          <Facts rows={labels.map(([pointer, label]) => [label, <code>{pointer}</code>] as const)} />
        </Section>
      )}
      {action.schema === undefined ? null : (
        <Section title="Schema of the request">
          <JsonTree text={JSON.stringify(action.schema)} label="Schema of the request" search="" />
        </Section>
      )}
    </>
  );
};

const Delete = ({ name }: { readonly name: string }) => (
  <Section title="Delete this action">
    <p>Requests for it are refused from then on. What was done stays in the history.</p>
    <div class="row">
      <Act
        label="Delete"
        act={() => call("DELETE /v1/actions/{name}", { params: { name } })}
        done={`${name} is deleted.`}
        onDone={() => go(LIST, { isReplaced: true })}
        why={null}
        ask={{
          question: `Delete ${name}?`,
          text: "Requests for it are refused at once, also those that are held. Bundles can no longer be undone by it.",
          keep: "Keep it",
        }}
      />
    </div>
  </Section>
);

const Shown = ({ action, onDone }: { readonly action: Action; readonly onDone: () => void }) => {
  const nameOf = useNames();
  const { name, version, changed_at: at, changed_by: by } = action;
  return (
    <>
      <Head
        title={<Breaking text={name} />}
        meta={
          <>
            <span>Version {version}</span>
            <span>
              {version === 1 ? "made" : "changed"} <Time at={at} /> by {nameOf(by) ?? "a member"}
            </span>
            <Zone />
          </>
        }
      />
      <Definition action={action} />
      <Fields action={action} />
      {whyNotAdmin() === null ? (
        <>
          <Section title="Change it">
            <ActionForm key={version} action={action} onDone={onDone} />
          </Section>
          <Delete name={name} />
        </>
      ) : (
        <p class="soft">{whyNotAdmin()}</p>
      )}
    </>
  );
};

/** What happens when an agent asks for this by name? */
const ActionPage = ({ params }: PageProps) => {
  const name = params.name ?? "";
  const shown = useAnswer<Action>({ key: name, on: { topic: "actions", id: null } }, () =>
    call("GET /v1/actions/{name}", { params: { name } }),
  );
  return (
    <Thing what="The action" shown={isNameSettled(shown.body?.changed_by) ? shown : { ...shown, body: null }}>
      {(action) => <Shown action={action} onDone={shown.again} />}
    </Thing>
  );
};

export default ActionPage;
