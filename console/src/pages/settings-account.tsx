import { Field } from "../../design/field.tsx";
import { bytes, count } from "../../design/format.ts";
import { Facts, Id, Section } from "../../design/text.tsx";
import { type AnswerOf, accountChanged, call, type Me, me } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { SendForm } from "./form.tsx";
import { Thing } from "./listing.tsx";
import { SettingsFrame } from "./settings-frame.tsx";
import { roleWord } from "./settings-text.ts";

type Limits = AnswerOf<"GET /v1/capabilities">["limits"];

const LimitFacts = ({ limits }: { readonly limits: Limits }) => (
  <div class="half">
    <Section title="How many there may be">
      <Facts
        rows={[
          ["Sources", count(limits.sources)],
          ["Endpoints", count(limits.delivery_endpoints)],
          ["Policies", count(limits.policies)],
          ["Agents", count(limits.agents)],
          ["Actions", count(limits.actions)],
          ["Members and invitations", count(limits.members)],
          ["Open sessions", count(limits.sessions)],
          ["Held requests", count(limits.held_approvals)],
        ]}
      />
    </Section>
    <Section title="How much there may be">
      <Facts
        rows={[
          ["Events a month", `${count(limits.events_per_month)} included`],
          ["One payload", bytes(limits.max_payload_bytes)],
          ["Stored in a day", bytes(limits.stored_bytes_day)],
          ["Refused, stored in a day", bytes(limits.refused_bytes_day)],
          ["Changes in a day", bytes(limits.change_bytes_day)],
          ["Calls a minute", `${count(limits.api_rate_per_minute)} for each key, session or agent`],
        ]}
      />
    </Section>
  </div>
);

/** What this browser knows as time zones; the service decides. */
const zones = (now: string): readonly string[] => [...new Set([now, "UTC", ...Intl.supportedValuesOf("timeZone")])];

const ChangeAccount = ({ who }: { readonly who: Me }) => {
  const { name, time_zone } = who.account;
  return (
    <Section title="Name and time zone">
      <SendForm
        label="Name and time zone"
        button="Save"
        send={(fields) =>
          call("PATCH /v1/account", { body: { name: fields.name ?? "", time_zone: fields.time_zone ?? "" } })
        }
        onDone={accountChanged}
        done="The account is changed."
      >
        {(faultOf) => (
          <>
            <Field
              label="Name"
              name="name"
              value={name}
              autocomplete="off"
              maxLength={100}
              required
              fault={faultOf("name")}
            />
            <Field
              label="Time zone"
              name="time_zone"
              value={time_zone}
              autocomplete="off"
              list={zones(time_zone)}
              hint="The days of budgets and figures end at its midnight. A change counts at once: if the next day has begun there, its budgets begin with nothing spent, and that day is not begun again."
              required
              fault={faultOf("time_zone")}
            />
          </>
        )}
      </SendForm>
    </Section>
  );
};

const AccountPage = () => {
  const shown = useAnswer({ key: "capabilities", on: null }, () => call("GET /v1/capabilities"));
  const who = me.value;
  return (
    <SettingsFrame name="account">
      {who === null ? null : (
        <Section title="This account">
          <Facts
            rows={[
              ["Name", who.account.name],
              ["Id", <Id id={who.account.id} />],
              ["Time zone", `${who.account.time_zone}: days, budgets and times are written in it`],
              [
                "Plan",
                <>
                  {roleWord(who.account.plan)} · <a href="/usage">Usage and plans</a>
                </>,
              ],
              ["You", `${who.member.email}, ${roleWord(who.member.role)}`],
            ]}
          />
        </Section>
      )}
      {who === null ? null : <ChangeAccount who={who} />}
      <Thing what="The limits" shown={shown}>
        {({ limits }) => <LimitFacts limits={limits} />}
      </Thing>
    </SettingsFrame>
  );
};

export default AccountPage;
