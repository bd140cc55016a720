import { useContext, useState } from "preact/hooks";
import { Field, fieldsOf, Select } from "../../design/field.tsx";
import { isToday, shortTime } from "../../design/format.ts";
import { StateMark } from "../../design/mark.tsx";
import { Secret } from "../../design/secret.tsx";
import type { Column } from "../../design/table.tsx";
import { Breaking, ClockContext, Section, Time } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { useRows } from "../shell/use-rows.ts";
import { Act } from "./act.tsx";
import { RowsTable, SettingsFrame } from "./settings-frame.tsx";
import { EXPIRIES, expiryIn, KEY_ROLES, roleWord } from "./settings-text.ts";
import { WithRight } from "./with-right.tsx";

type Key = AnswerOf<"GET /v1/api-keys">["data"][number];
type Made = AnswerOf<"POST /v1/api-keys">;

const MakeKey = ({ onMade }: { readonly onMade: (made: Made) => void }) => {
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (form: HTMLFormElement): Promise<void> => {
    // A second press would make a second key.
    if (isBusy) return;
    const { name = "", role: given, days = "" } = fieldsOf(form);
    const role = KEY_ROLES.find(({ value }) => value === given)?.value ?? "viewer";
    setBusy(true);
    const answer = await call("POST /v1/api-keys", { body: { name, role, expires_at: expiryIn(days, Date.now()) } });
    setBusy(false);
    setFault(answer.ok ? null : answer.problem.detail);
    if (!answer.ok) return;
    form.reset();
    onMade(answer.body);
  };
  return (
    <Section title="Make a key">
      <form
        class="ask stack"
        aria-label="Make a key"
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        <Field label="Name" name="name" autocomplete="off" maxLength={100} required fault={fault} />
        <Select label="Role" name="role" value="viewer" choices={KEY_ROLES} />
        <Select label="Expires" name="days" value="90" choices={EXPIRIES} />
        <button class="btn first" type="submit" disabled={isBusy}>
          Make the key
        </button>
      </form>
    </Section>
  );
};

/** Uses are recorded by the day, so no time of day is shown. */
const UsedOn = ({ at }: { readonly at: string }) => {
  const clock = useContext(ClockContext);
  return (
    <time dateTime={at} title={`first used on that day at ${at}`}>
      {isToday(at, clock) ? "today" : shortTime(at, clock).split(",")[0]}
    </time>
  );
};

const columns = (onGone: () => void): readonly Column<Key>[] => [
  {
    name: "Name",
    as: "a",
    show: ({ name, last4 }) => (
      <>
        <b>
          <Breaking text={name} />
        </b>
        <span class="sub">
          ends in <code>{last4}</code>
        </span>
      </>
    ),
  },
  { name: "Role", as: "b", show: ({ role }) => roleWord(role) },
  { name: "State", as: "c", show: ({ status }) => <StateMark value={status} /> },
  {
    name: "Last used",
    as: "soft",
    show: ({ last_used_at: at }) => (
      <>
        <span class="phone">{at === null ? "Used " : "Last used "}</span>
        {typeof at === "string" ? <UsedOn at={at} /> : "never"}
      </>
    ),
  },
  { name: "Made", as: "soft hide wide", show: ({ created_at: at }) => <Time at={at} /> },
  {
    name: "Expires",
    as: "soft",
    show: ({ expires_at: at }) =>
      typeof at === "string" ? (
        <>
          <span class="phone">Until </span>
          <Time at={at} />
        </>
      ) : (
        <>
          <span class="phone">Expires </span>never
        </>
      ),
  },
  {
    name: "Acts",
    as: "acts",
    show: ({ id, name }) => (
      <div class="row">
        <Act
          label="Revoke"
          act={() => call("DELETE /v1/api-keys/{id}", { params: { id } })}
          done={`The key ${name} is revoked.`}
          onDone={onGone}
          why={null}
          ask={{
            question: `Revoke the key ${name}?`,
            text: "Every program that uses it is refused from now on.",
            keep: "Keep the key",
          }}
        />
      </div>
    ),
  },
];

const Shown = () => {
  /** Each is shown once, so a further one takes no other away. */
  const [made, setMade] = useState<readonly Made[]>([]);
  const list = useRows<Key>({
    keyOf: ({ id }) => id,
    page: (cursor) => call("GET /v1/api-keys", { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } }),
  });
  return (
    <>
      {made.map((it) => (
        <Secret
          key={it.id}
          secret={it.key}
          title="This key is shown once."
          text="Countersign keeps only a hash of it. If you lose it, make a new one."
          variable="COUNTERSIGN_KEY"
          onDone={() => setMade((before) => before.filter(({ id }) => id !== it.id))}
        />
      ))}
      <Section title="Keys">
        <RowsTable
          caption="API keys"
          list={list}
          columns={columns(list.again)}
          keyOf={({ id }) => id}
          empty="There is no key yet. Programs that set up or read this account need one."
        />
      </Section>
      <MakeKey
        onMade={(it) => {
          setMade((before) => [it, ...before]);
          list.again();
        }}
      />
    </>
  );
};

const Keys = () => (
  <SettingsFrame name="keys">
    <WithRight needs="admin" says="Only an admin or an owner sees and makes API keys">
      <Shown />
    </WithRight>
  </SettingsFrame>
);

export default Keys;
