import { useState } from "preact/hooks";
import { Field } from "../../design/field.tsx";
import { count } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Secret } from "../../design/secret.tsx";
import { type Column, DataTable } from "../../design/table.tsx";
import { Breaking, Copied, Facts, Head, Id, Note, Section, Time, Zone } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { AdminsOnly } from "./admins-only.tsx";
import { useEndpointChoices, usePolicyChoices } from "./choices.ts";
import { Choice, SendForm } from "./form.tsx";
import { LastDay } from "./last-day.tsx";
import { Thing } from "./listing.tsx";
import { MessageText } from "./message-text.tsx";
import { useProviderLabels } from "./provider-labels.ts";
import { signatureRefusal } from "./refusals.ts";

type Source = AnswerOf<"GET /v1/sources/{id}">;
type Rejections = AnswerOf<"GET /v1/sources/{id}/rejections">;
type Rejection = Rejections["data"][number];

const COLUMNS: readonly Column<Rejection>[] = [
  { name: "Minute", as: "b nw soft", show: ({ minute }) => <Time at={minute} /> },
  { name: "Why", as: "c0", show: ({ reason }) => <MessageText message={signatureRefusal(reason)} /> },
  {
    name: "Requests",
    as: "num a",
    show: ({ count: number }) => (
      <>
        {count(number)}
        <span class="under"> {number === 1 ? "request" : "requests"}</span>
      </>
    ),
  },
  { name: "From", as: "soft hide", show: ({ sample }) => sample?.ip ?? "" },
];

const REJECTIONS_SHOWN = 20;

const Refused = ({ id }: { readonly id: string }) => {
  const shown = useAnswer<Rejections>({ key: id, on: { topic: "sources", id } }, () =>
    call("GET /v1/sources/{id}/rejections", { params: { id }, query: { limit: REJECTIONS_SHOWN } }),
  );
  const rows = shown.body?.data ?? [];
  return (
    <Section title="Refused signatures">
      {shown.body === null && shown.problem === null ? <Loading rows={1} /> : null}
      {shown.problem === null ? null : <p class="soft">{shown.problem.detail}</p>}
      {shown.body !== null && rows.length === 0 ? <p class="soft">None was refused lately.</p> : null}
      {rows.length === 0 ? null : (
        <DataTable
          caption="Refused signatures by minute, newest first"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ minute, reason }) => `${minute} ${reason}`}
        />
      )}
    </Section>
  );
};

const Change = ({ source, onDone }: { readonly source: Source; readonly onDone: () => void }) => {
  const endpoints = useEndpointChoices();
  const policies = usePolicyChoices();
  if (endpoints === null || policies === null) return <Loading rows={4} />;
  return (
    <Section title="Change it">
      <SendForm
        label="Change it"
        button="Save"
        send={({ name = "", endpoint_id = null, policy_id = null }) =>
          call("PATCH /v1/sources/{id}", { params: { id: source.id }, body: { name, endpoint_id, policy_id } })
        }
        done="The source is changed."
        onDone={onDone}
      >
        {(faultOf) => (
          <>
            <Field label="Name" name="name" value={source.name} required maxLength={100} fault={faultOf("name")} />
            <Choice
              label="Endpoint"
              name="endpoint_id"
              value={source.endpoint_id ?? ""}
              choices={[...endpoints, { value: "", word: "None: its events are recorded only" }]}
            />
            <Choice label="Policy" name="policy_id" value={source.policy_id ?? ""} choices={policies} />
          </>
        )}
      </SendForm>
    </Section>
  );
};

/** The secret before stays valid for a time, so that nothing is refused while the provider is changed. */
const Rotate = ({ id }: { readonly id: string }) => {
  const [made, setMade] = useState<AnswerOf<"POST /v1/sources/{id}/secret"> | null>(null);
  return (
    <Section title="Secret">
      {made === null ? null : (
        <Note>
          <p>
            The secret before is accepted until <Time at={made.previous_valid_until} />.
          </p>
        </Note>
      )}
      {made?.secret === undefined ? (
        <SendForm
          label="Secret"
          button="Rotate the secret"
          send={(body) => call("POST /v1/sources/{id}/secret", { params: { id }, body })}
          onDone={setMade}
        >
          {(faultOf) => (
            <Field
              label="New secret"
              name="secret"
              type="password"
              autocomplete="off"
              maxLength={512}
              fault={faultOf("secret")}
              hint="Paste the provider's. If you leave it empty, one is made and shown once. The one before is accepted for 24 h more."
            />
          )}
        </SendForm>
      ) : (
        <Secret
          secret={made.secret}
          title="This secret is shown once."
          text="Put it in at the provider before the one before ends."
          variable="WEBHOOK_SECRET"
          onDone={() => setMade({ previous_valid_until: made.previous_valid_until })}
        />
      )}
    </Section>
  );
};

type ShownProps = { readonly source: Source; readonly label: string; readonly onDone: () => void };

const Shown = ({ source, label, onDone }: ShownProps) => {
  const nameOf = useNames();
  const { id, name, status } = source;
  const set = (next: Source["status"]) => () =>
    call("PATCH /v1/sources/{id}", { params: { id }, body: { status: next } });
  const why = whyNotAdmin();
  return (
    <>
      <Head
        title={<Breaking text={name} />}
        meta={
          <>
            <StateMark value={status} />
            <span>{label}</span>
            <Id id={id} />
            <Zone />
          </>
        }
        acts={
          status === "paused" ? (
            <Act label="Resume" act={set("active")} done={`${name} takes requests again.`} onDone={onDone} why={why} />
          ) : (
            <Act
              label="Pause"
              act={set("paused")}
              done={`${name} is paused.`}
              onDone={onDone}
              why={why}
              ask={{
                question: `Pause ${name}?`,
                text: "Its requests are refused until it is resumed; providers send them again for some time.",
                keep: "Keep it active",
              }}
            />
          )
        }
      />
      <Section title="Address">
        <Copied value={source.ingest_url} />
        <p class="row">
          <a class="btn" href={hrefOf("/sources/new", { source: id, step: "3" })}>
            Set it up, step by step
          </a>
        </p>
      </Section>
      <Section title="What happens to its events">
        <Facts
          rows={[
            [
              "Endpoint",
              source.endpoint_id === null ? (
                "recorded only"
              ) : (
                <a href={`/endpoints/${encodeURIComponent(source.endpoint_id)}`}>
                  {nameOf(source.endpoint_id) ?? "its endpoint"}
                </a>
              ),
            ],
            [
              "Policy",
              source.policy_id === null ? (
                "none"
              ) : (
                <a href={`/policies/${encodeURIComponent(source.policy_id)}`}>
                  {nameOf(source.policy_id) ?? "its policy"}
                </a>
              ),
            ],
            ["Since", <Time at={source.created_at} />],
          ]}
        />
        <p class="row">
          <a class="btn" href={hrefOf("/events", { source_id: id })}>
            Its events
          </a>
        </p>
      </Section>
      <LastDay by="source" id={id} />
      <Refused id={id} />
      <AdminsOnly to="change it, rotate its secret or delete it">
        <Change source={source} onDone={onDone} />
        <Rotate id={id} />
        <Section title="Delete this source">
          <p>Its address is refused from then on. What it has sent stays in the history.</p>
          <div class="row">
            <Act
              label="Delete"
              act={() => call("DELETE /v1/sources/{id}", { params: { id } })}
              done={`${name} is deleted.`}
              onDone={() => go("/sources", { isReplaced: true })}
              why={why}
              ask={{
                question: `Delete ${name}?`,
                text: "Its address stops at once and cannot be brought back.",
                keep: "Keep it",
              }}
            />
          </div>
        </Section>
      </AdminsOnly>
    </>
  );
};

const SourcePage = ({ params }: PageProps) => {
  const id = params.id ?? "";
  const shown = useAnswer<Source>({ key: id, on: { topic: "sources", id } }, () =>
    call("GET /v1/sources/{id}", { params: { id } }),
  );
  const { label, isRead } = useProviderLabels();
  return (
    <Thing what="The source" shown={isRead ? shown : { ...shown, body: null }}>
      {(source) => <Shown source={source} label={label(source.type)} onDone={shown.again} />}
    </Thing>
  );
};

export default SourcePage;
