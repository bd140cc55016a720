import { useState } from "preact/hooks";
import { Field, fieldsOf, Select } from "../../design/field.tsx";
import { Layer } from "../../design/layer.tsx";
import { Copied, ErrorText } from "../../design/text.tsx";
import { call } from "../api/api.ts";
import type { Answered, Problem } from "../api/calls.ts";

type Fields = Readonly<Record<string, string>>;
type Period = { readonly from: string; readonly to: string };

/** The days that were chosen, if there is a period between them. */
const periodIn = ({ from = "", to = "" }: Fields): Period | null => (from !== "" && from < to ? { from, to } : null);

const Days = ({ hint }: { readonly hint: string }) => (
  <div class="stack tight">
    <div class="row">
      <Field type="date" name="from" label="From" required />
      <Field type="date" name="to" label="To, excluded" required />
    </div>
    <p class="hint">{hint}</p>
  </div>
);

const WithPayloads = () => (
  <div class="stack tight">
    <label class="row tight">
      <input type="checkbox" name="payloads" value="1" />
      <span>With payloads</span>
    </label>
    <p class="hint">
      Each person who gets the file can read the payloads, headers and personal data in it. What was erased is not in
      it.
    </p>
  </div>
);

const NEVER = "It does not prove that a record is true, or that nothing was done without a record.";

const proves = (isPeriod: boolean): string =>
  isPeriod
    ? `The file will prove that these are all records from its first to its last, and that none was changed since it was sealed. It does not prove what came before or after. ${NEVER}`
    : `The file will prove that these are all records up to the newest checkpoint, and that none was changed since it was sealed. ${NEVER}`;

const indexOf = async ({ from, to }: Period, order: "asc" | "desc"): Promise<Answered<number | null>> => {
  const days = { from: `${from}T00:00:00.000Z`, to: `${to}T00:00:00.000Z` };
  const answer = await call("GET /v1/audit", { query: { ...days, order, limit: 1 } });
  return answer.ok ? { ok: true, body: answer.body.data[0]?.index ?? null } : answer;
};

const NO_RECORD: Problem = {
  status: 0,
  code: "no-record",
  title: "No record",
  detail: "The account has no record of this period. Choose other days.",
};

/** The indexes between which the records of the period are. */
const rangeOf = async (
  period: Period,
): Promise<Answered<{ readonly from_index: number; readonly to_index: number }>> => {
  const first = await indexOf(period, "asc");
  if (!first.ok) return first;
  const last = await indexOf(period, "desc");
  if (!last.ok) return last;
  if (first.body === null || last.body === null) return { ok: false, problem: NO_RECORD };
  return { ok: true, body: { from_index: first.body, to_index: last.body + 1 } };
};

const save = (query: URLSearchParams, name: string): void => {
  const link = document.createElement("a");
  link.href = `/v1/audit/export?${query}`;
  link.download = `${name}.ndjson`;
  link.click();
};

/** Asks which records, and says what the file will prove and what it will not. */
export const ExportRecords = ({ onClose }: { readonly onClose: () => void }) => {
  const [fields, setFields] = useState<Fields>({});
  const [fault, setFault] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isPeriod = fields.which === "period";
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const period = isPeriod ? periodIn(fields) : null;
    if (isPeriod && period === null) return;
    setBusy(true);
    const range = period === null ? null : await rangeOf(period);
    setBusy(false);
    if (range?.ok === false) return setFault(range.problem);
    const query = new URLSearchParams(fields.payloads === undefined ? {} : { payloads: "1" });
    for (const [name, index] of Object.entries(range?.body ?? {})) query.set(name, String(index));
    save(query, period === null ? "audit" : `audit-${period.from}-${period.to}`);
    onClose();
  };
  return (
    <Layer label="Export records" kind="box" onClose={onClose}>
      <h3>Export records</h3>
      <form
        class="stack tight"
        aria-label="Export records"
        onInput={({ currentTarget }) => {
          setFault(null);
          setFields(fieldsOf(currentTarget));
        }}
        onSubmit={(event) => void onSubmit(event)}
      >
        <Select
          label="Records"
          name="which"
          value="all"
          choices={[
            { value: "all", word: "All of them" },
            { value: "period", word: "Those of a period" },
          ]}
        />
        {isPeriod ? <Days hint="Whole days of UTC, by the time at which each record was written." /> : null}
        <WithPayloads />
        <p>{proves(isPeriod)}</p>
        <ErrorText text={fault?.detail ?? null} />
        <div class="row">
          <button class="btn" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="btn first end" type="submit" disabled={isBusy || (isPeriod && periodIn(fields) === null)}>
            Save the export
          </button>
        </div>
      </form>
    </Layer>
  );
};

const FRAMEWORKS = [
  { value: "generic", word: "Generic" },
  { value: "soc2", word: "SOC 2" },
];

const commandOf = ({ from, to }: Period, { framework = "generic", payloads }: Fields): string =>
  `countersign evidence --url ${location.origin} --from ${from} --to ${to} --framework ${framework}` +
  (payloads === undefined ? "" : " --payloads");

/** Asks what the pack is about and gives the command that makes it, on a machine that is not the service's. */
export const EvidencePack = ({ onClose }: { readonly onClose: () => void }) => {
  const [fields, setFields] = useState<Fields>({});
  const period = periodIn(fields);
  return (
    <Layer label="Evidence pack" kind="box" onClose={onClose}>
      <h3>Evidence pack</h3>
      <p>
        A pack is a folder with the records, their proofs, the answers to the claims of a control file, and a report to
        read. It is made on your own machine, so that its answers do not rest on this service. Sign the command line in
        there once with <code>countersign login --url {location.origin}</code>.
      </p>
      <form
        class="stack tight"
        aria-label="Evidence pack"
        onInput={({ currentTarget }) => setFields(fieldsOf(currentTarget))}
        onSubmit={(event) => event.preventDefault()}
      >
        <Days hint="Whole days of UTC. A claim about the period holds only if a record after its end is sealed." />
        <Select
          label="Control file"
          name="framework"
          value="generic"
          choices={FRAMEWORKS}
          hint="Claims about approvals, access and operation; or the same ones by the criteria of SOC 2"
        />
        <WithPayloads />
      </form>
      <p>
        The pack will prove what the records show: who approved what, who had access, and that no record of the account
        is missing. It does not say that a control is well designed, and a claim that the records cannot answer stays
        open. {NEVER}
      </p>
      {period === null ? (
        <p class="soft">Choose the days, and the command stands here.</p>
      ) : (
        <Copied value={commandOf(period, fields)} />
      )}
      <div class="row">
        <button class="btn end" type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Layer>
  );
};
