import { bytes, count } from "../../design/format.ts";
import { Facts, Id, Section } from "../../design/text.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";
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
      <Thing what="The limits" shown={shown}>
        {({ limits }) => <LimitFacts limits={limits} />}
      </Thing>
    </SettingsFrame>
  );
};

export default AccountPage;
