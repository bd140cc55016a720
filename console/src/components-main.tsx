/** A page of all components in their states, for those who build with them and for the tests. The program does not serve it. */
import "../design/index.css";
import { render } from "preact";
import { useState } from "preact/hooks";
import { Field } from "../design/field.tsx";
import type { FilterValues } from "../design/filter-values.ts";
import { FilterBar } from "../design/filters.tsx";
import { Gauge, GaugeKey } from "../design/gauge.tsx";
import { Confirm } from "../design/layer.tsx";
import { Icon, StateMark } from "../design/mark.tsx";
import { Palette } from "../design/palette.tsx";
import { Empty, LoadError, Loading, NoRight } from "../design/placeholders.tsx";
import { Seal } from "../design/seal.tsx";
import { Secret } from "../design/secret.tsx";
import { allStates } from "../design/states.ts";
import { DataTable, FreshBar, Pager } from "../design/table.tsx";
import { ClockContext, Head, Id, Section, Time } from "../design/text.tsx";
import { Toast, toast } from "../design/toast.tsx";
import { JsonTree } from "../design/tree.tsx";
import { Waterfall } from "../design/waterfall.tsx";

const NOW = Date.parse("2026-11-17T13:08:40Z");
const CLOCK = { zone: "Europe/Berlin", now: NOW };
const DIGEST = "63e725625912511d70cbb00953a341819704e1901354fd7f844f08b057809347";
const ID = "evt_tvnbdk7kocat5252zmuqgscjswhgzwjz";
const PAYLOAD = `{"order":"4711","amount":1240.00,"customer":{"id":"cus_8812","iban":"x"},"lines":[{"sku":"R3"},{"sku":"G1"}],"reason":"Two tents arrived with broken poles."}`;
const COLOURS = ["paper", "well", "sheet", "rule", "edge", "ink", "ink-2", "ink-3", "blue", "ok", "wait", "refuse"];
const FILTERS = [
  { name: "status", label: "State", choices: [{ value: "failed", word: "Failed" }], expects: "Choose a state." },
  { name: "endpoint_id", label: "Endpoint", choices: [{ value: "end_1", word: "erp-bridge" }], expects: null },
];
const ROWS = [
  { id: "a", name: "refund.create", state: "delivered", at: "2026-11-17T13:08:29.889Z" },
  { id: "b", name: "orders/create", state: "queued", at: "2026-11-17T13:07:51.204Z" },
  { id: "c", name: "push", state: "failed", at: "2026-11-16T13:03:02.377Z" },
];
const HELD_FROM = Date.parse("2026-11-17T13:02:11.500Z");
const STAGES = [
  { name: "Received and authenticated", state: "delivered", start: HELD_FROM - 20, end: HELD_FROM - 19.4 },
  { name: "9 gates", state: "hold", start: HELD_FROM - 19, end: HELD_FROM - 15, note: "8 allow, approval holds" },
  { name: "Content", state: "allow", start: HELD_FROM - 18, end: HELD_FROM - 16.6, isNested: true },
  { name: "Held for approval", state: "held", start: HELD_FROM, end: HELD_FROM + 372_000, isWait: true },
  { name: "Attempt 1", state: "failed", start: HELD_FROM + 372_010, end: HELD_FROM + 372_822, note: "503" },
  { name: "Wait, as it asked", state: "queued", start: HELD_FROM + 372_822, end: HELD_FROM + 378_000, isWait: true },
  { name: "Attempt 2", state: "succeeded", start: HELD_FROM + 378_000, end: HELD_FROM + 378_144, note: "200" },
].map((it) => ({ isWait: false, ...it }));

const States = () => (
  <Section title="States: a mark and a word">
    <ul class="grid3">
      {allStates().map(({ word, mark, role }) => (
        <li key={word}>
          <span class={`st ${role}`}>
            <svg class="m" aria-hidden="true">
              <use href={`#m-${mark}`} />
            </svg>
            {word}
          </span>
        </li>
      ))}
    </ul>
  </Section>
);

const Colours = () => (
  <Section title="Colour roles">
    <ul class="swatches">
      {[...COLOURS, "fail", "move", "base"].map((name) => (
        <li key={name}>
          <svg class="sw" aria-hidden="true">
            <rect width="100%" height="100%" fill={`var(--${name})`} />
          </svg>
          <code>--{name}</code>
        </li>
      ))}
    </ul>
  </Section>
);

const Layers = () => {
  const [open, setOpen] = useState("");
  const close = (): void => setOpen("");
  const entry = { icon: "endpoints", group: "Endpoints", beside: "Circuit open", onChoose: close };
  return (
    <Section title="Layers">
      <div class="row">
        <button class="btn" type="button" onClick={() => setOpen("confirm")}>
          Suspend…
        </button>
        <button class="btn" type="button" onClick={() => setOpen("palette")}>
          Search or jump to
        </button>
        <button class="btn" type="button" onClick={() => setToast()}>
          Reject
        </button>
      </div>
      {open === "confirm" ? (
        <Confirm
          question="Suspend refund-bot?"
          act="Suspend refund-bot"
          keep="Keep it active"
          onAct={close}
          onClose={close}
        >
          <p>Its key stops working at once. 2 held requests are cancelled.</p>
          <Field label="Reason" name="reason" value="Refunds repeat since 13:20" />
        </Confirm>
      ) : null}
      {open === "palette" ? (
        <Palette
          find={() => undefined}
          entries={[
            { ...entry, key: "1", name: "erp-bridge" },
            { ...entry, key: "2", name: "erp-mirror", beside: "Healthy" },
          ]}
          onClose={close}
        />
      ) : null}
    </Section>
  );
};

const setToast = (): void => {
  toast.value = { text: "Rejected. Nothing was sent.", act: { word: "Next request", onAct: () => undefined } };
};

const Forms = () => {
  const [values, setValues] = useState<FilterValues>({ status: "failed" });
  const [secret, setSecret] = useState("csa_4Jq8ZrT0nB1xVwKe7mYcPsLh2GdUa9");
  return (
    <Section title="Forms, filters, once-shown secret">
      <div class="stack">
        <Field
          label="Budget a day, in euros"
          name="budget"
          value="2,0000"
          fault="Write an amount such as 2000 or 2000.50."
        />
        <Field label="Name" name="name" hint="People see it in lists." />
        <div class="row">
          <button class="btn first" type="button">
            Save
          </button>
          <button class="btn" type="button">
            Cancel
          </button>
          <button class="btn danger" type="button">
            Delete
          </button>
          <button class="btn" type="button" disabled>
            Not allowed
          </button>
        </div>
        <FilterBar
          label="Filter events"
          hint="Type, id or name"
          filters={FILTERS}
          values={values}
          onChange={(changed) => setValues({ ...values, ...changed })}
        />
        {secret === "" ? null : (
          <Secret
            secret={secret}
            title="This key is shown once."
            text="Countersign keeps only a hash of it. If you lose it, make a new one."
            variable="COUNTERSIGN_KEY"
            onDone={() => setSecret("")}
          />
        )}
      </div>
    </Section>
  );
};

const Tables = () => (
  <Section title="Table">
    <FreshBar waiting="12" what="events" onShow={() => undefined} />
    <DataTable
      caption="Events, newest first"
      rows={ROWS}
      keyOf={(row) => row.id}
      selected="b"
      columns={[
        { name: "Received", as: "b nw soft", show: (row) => <Time at={row.at} /> },
        {
          name: "Event",
          as: "c0",
          show: (row) => (
            <>
              <a class="name" href="#main">
                {row.name}
              </a>
              <span class="sub">refund-bot → billing-app</span>
            </>
          ),
        },
        { name: "State", as: "a", show: (row) => <StateMark value={row.state} word={row.state} /> },
        { name: "Cost", as: "num hide nw", show: () => "€0.02" },
      ]}
    />
    <Pager shown={3} words="3 of 10,000+" onMore={() => undefined} isLoading={false} />
  </Section>
);

const Placeholders = () => (
  <Section title="Empty, error, loading, no right">
    <div class="stack">
      <Empty
        title="Nothing has arrived yet"
        text="An event appears here when a source or an agent sends its first request."
      >
        <button class="btn first" type="button">
          Add a source
        </button>
      </Empty>
      <LoadError
        what="The list"
        failure={{ title: "View behind", detail: "The service answered 503." }}
        since="2026-11-17T13:02:11Z"
        onRetry={() => undefined}
      />
      <Loading rows={2} />
      <NoRight>
        <p>
          <b>Only an admin can change this policy.</b> You are an approver. Ben Okafor and Dev Malhotra are admins.
        </p>
      </NoRight>
    </div>
  </Section>
);

const Numbers = () => (
  <Section title="Seal, gauge, connection, ids">
    <div class="stack">
      <Seal digest={DIGEST} label="What you sign" />
      <Gauge
        parts={[
          { kind: "done", part: 0.306 },
          { kind: "held", part: 0.42 },
          { kind: "add", part: 0.2 },
        ]}
      />
      <GaugeKey kinds={["done", "held", "add"]} />
      <div class="row">
        <span class="live">
          <span class="dot" />
          Live
        </span>
        <span class="live">
          <span class="dot off" />
          Paused while you read: 12 new
        </span>
        <span class="live">
          <span class="dot bad" />
          Not connected, from 14:02:11
        </span>
      </div>
      <p>
        <Id id={ID} /> <Icon name="send" />
      </p>
    </div>
  </Section>
);

const Components = () => (
  <ClockContext.Provider value={CLOCK}>
    <main id="main" class="page catalogue">
      <Head title="Components" meta={<span>One example of each, in its states</span>} />
      <div class="half wide">
        <States />
        <Colours />
      </div>
      <div class="half wide">
        <Forms />
        <Placeholders />
      </div>
      <Tables />
      <Section title="Timeline">
        <Waterfall stages={STAGES} begin="14:02:11" />
      </Section>
      <div class="half wide">
        <Section title="Payload">
          <JsonTree
            text={PAYLOAD}
            label="Payload"
            search="amount"
            hidden={new Map([["/customer/iban", "hidden by the policy support-refunds"]])}
          />
        </Section>
        <div class="stack">
          <Numbers />
          <Layers />
        </div>
      </div>
      <Toast />
    </main>
  </ClockContext.Provider>
);

const start = document.getElementById("app");
if (start !== null) render(<Components />, start);
