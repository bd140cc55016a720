import { counted } from "../../design/format.ts";
import { Facts, Section } from "../../design/text.tsx";
import { call } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Thing } from "./listing.tsx";
import { SettingsFrame } from "./settings-frame.tsx";

const Privacy = () => {
  const shown = useAnswer({ key: "capabilities", on: null }, () => call("GET /v1/capabilities"));
  return (
    <SettingsFrame name="privacy">
      <Thing what="The retention" shown={shown}>
        {({ limits }) => (
          <Section title="How long things are kept">
            <Facts
              rows={[
                [
                  "Payloads",
                  `${counted(limits.retention_days, "day")} after their event has ended, then they are erased`,
                ],
                ["Audit", "as long as the account exists: records, digests and decisions, without payloads"],
                ["What people wrote, addresses and browsers", "in values next to the records, which can be erased"],
              ]}
            />
          </Section>
        )}
      </Thing>
      <Section title="Erase something sooner">
        <div class="stack tight narrow">
          <p>
            An admin erases the payload of one event: open it in <a href="/events">Events</a> and press “Erase the
            payload…” below its payload. Its content is gone for good; the record and its proof stay.
          </p>
          <p>
            An owner erases all that is kept of a person in <a href="/settings/members">Members</a>.
          </p>
        </div>
      </Section>
    </SettingsFrame>
  );
};

export default Privacy;
