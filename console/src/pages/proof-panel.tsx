import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { around } from "../../design/around.ts";
import { Field, fieldsOf } from "../../design/field.tsx";
import { count } from "../../design/format.ts";
import { useKeys } from "../../design/keys.ts";
import { Icon, Mark } from "../../design/mark.tsx";
import { Loading } from "../../design/placeholders.tsx";
import type { Role } from "../../design/states.ts";
import { Note } from "../../design/text.tsx";
import { JsonTree } from "../../design/tree.tsx";
import { call, callText, me } from "../api/api.ts";
import { hrefOf } from "../shell/addresses.ts";
import { pageOfId } from "../shell/thing-pages.ts";
import type { Checked, Outside, Service } from "./proof-check.ts";
import { fieldIn } from "./record-parts.ts";

/** What the auditor has given stays while the tab is open, and is never stored. */
const outside = signal<Outside>({ keys: [], witnesses: [], kept: "" });

const service: Service = {
  async exported(index) {
    const answer = await callText("GET /v1/audit/export", { query: { from_index: index, to_index: index + 1 } });
    if (!answer.ok) throw new Error(answer.problem.detail);
    return answer.body;
  },
  async consistency(from, to) {
    const answer = await call("GET /v1/audit/consistency", { query: { from, to } });
    if (!answer.ok) throw new Error(answer.problem.detail);
    return answer.body;
  },
};

type Words = { readonly role: Role; readonly mark: string; readonly title: string; readonly text: string };

const KEEP =
  "Keep this file and the checkpoint, and do not export again before you have shown both to a second person.";
/** How the verifier begins, of one record whose bytes are not those that were sealed. */
const CHANGED = ["it was changed: ", "its leaf is not the one that "];

/** What does not hold, and what to do. */
const brokenText = (reason: string): string => {
  const what = CHANGED.some((it) => reason.startsWith(it))
    ? "Its leaf does not hash to the value in the tree"
    : reason.charAt(0).toUpperCase() + reason.slice(1);
  return `${what}. ${KEEP}`;
};

const textOf = ({ report, meaning }: Checked): string =>
  report.fault === null ? VERDICTS[report.verdict].text || meaning : brokenText(report.fault.reason);

const VERDICTS: Readonly<Record<Checked["report"]["verdict"], Words>> = {
  authentic: {
    ...{ role: "ok", mark: "sWitnessed", title: "Authentic." },
    text: "Checked in this browser, against the key that you gave.",
  },
  consistent: {
    ...{ role: "wait", mark: "unknown", title: "Consistent." },
    text: "Checked in this browser. No key was given, so nothing is said about who made it.",
  },
  /** What is missing may be all that a check needs: the check itself says in its words what that means. */
  incomplete: { role: "wait", mark: "unknown", title: "Incomplete:", text: "" },
  broken: { role: "fail", mark: "failed", title: "Broken", text: "" },
};

const Check = ({ children }: { readonly children: ComponentChildren }) => (
  <li>
    <Mark name="delivered" role="ok" />
    <div>{children}</div>
  </li>
);

const Unsure = ({ children }: { readonly children: ComponentChildren }) => (
  <li>
    <Mark name="unknown" role="wait" />
    <div>{children}</div>
  </li>
);

/** A line for each thing that held, and for what has to be known besides. Nothing is ticked if anything did not hold. */
const Checks = ({ checked: { report, remarks } }: { readonly checked: Checked }) => {
  const { fault, head, missing, witnesses, key } = report;
  const unsure = remarks.map((remark) => <Unsure key={remark}>{remark}</Unsure>);
  if (fault !== null) return unsure.length === 0 ? null : <ul class="checks">{unsure}</ul>;
  return (
    <ul class="checks">
      {head === null ? null : (
        <>
          <Check>
            The record hashes to its leaf, and the leaf leads to the root of {count(head.size)} records
            <br />
            <code>{head.root}</code>
          </Check>
          {key === null ? (
            <Unsure>
              A checkpoint holds this root; by whom it is signed is not checked without a key
              <br />
              <code>{head.origin}</code>
            </Unsure>
          ) : (
            <Check>
              A checkpoint holds this root and is signed
              <br />
              <code>{key}</code>
            </Check>
          )}
        </>
      )}
      {witnesses.map(({ witness, time, size }) => (
        <Check key={witness}>
          {witness} saw the first {count(size)} records at {time}
        </Check>
      ))}
      {missing.map((what) => (
        <Unsure key={what}>Missing: {what}</Unsure>
      ))}
      {unsure}
    </ul>
  );
};

const lines = (text = ""): readonly string[] =>
  text
    .split(/[\n,]/)
    .map((it) => it.trim())
    .filter((it) => it !== "");

const Given = ({ onChange }: { readonly onChange: () => void }) => (
  <details>
    <summary>What you have from outside this page</summary>
    <form
      class="stack tight"
      aria-label="What you have from outside this page"
      onSubmit={(event) => {
        event.preventDefault();
        const { keys, witnesses, kept = "" } = fieldsOf(event.currentTarget);
        // A note ends with a line break, which a field of one line does not keep.
        outside.value = { keys: lines(keys), witnesses: lines(witnesses), kept: kept === "" ? "" : `${kept.trim()}\n` };
        onChange();
      }}
    >
      <Field
        label="The service's key"
        name="keys"
        value={outside.value.keys.join(", ")}
        hint="It begins with the service's name. Have it from the operator in another way than this page."
      />
      <Field label="Witnesses' keys" name="witnesses" value={outside.value.witnesses.join(", ")} />
      <div class="field">
        <label for="kept">A checkpoint that you kept</label>
        <textarea id="kept" class="in" name="kept" rows={4} defaultValue={outside.value.kept} />
      </div>
      <div class="row">
        <button class="btn" type="submit">
          Check again
        </button>
      </div>
    </form>
  </details>
);

/** The thing that the proved record is about, as an approval's page shows what its approvers saw, and its neighbours. */
const About = ({ leaf }: { readonly leaf: string }) => {
  const record: unknown = JSON.parse(leaf);
  const page = pageOfId(String(fieldIn(record, "subject")));
  return (
    <p class="row">
      {page === null ? null : (
        <a class="btn" href={page.href}>
          Open the {page.what}
        </a>
      )}
      <a class="btn" href={hrefOf("/audit", around(String(fieldIn(record, "recorded_at"))))}>
        Around this moment
      </a>
    </p>
  );
};

type State = {
  readonly checked: Checked | null;
  /** Why nothing was checked, a sentence. */
  readonly failed: string | null;
};
const NOTHING: State = { checked: null, failed: null };

type PanelProps = {
  readonly index: number;
  readonly back: string;
  /** What stands above the proof; `leaf` is what was proved, null before that. */
  readonly about: (leaf: string | null) => ComponentChildren;
};

/** Proves one record in this browser, and shows what was proved; `back` is the list without it. */
export const ProofPanel = ({ index, back, about }: PanelProps) => {
  const [state, setState] = useState<State>(NOTHING);
  const [asked, setAsked] = useState(0);
  const account = me.value?.account.id ?? null;
  useEffect(() => {
    let isGone = false;
    const show = (next: State): void => {
      if (!isGone) setState(next);
    };
    setState(NOTHING);
    if (account === null) return undefined;
    import("./proof-check.ts")
      .then(({ checkRecord }) => checkRecord(service, { index, account }, outside.value))
      .then((it) => show("wrong" in it ? { ...NOTHING, failed: it.why } : { ...NOTHING, checked: it }))
      .catch((error: unknown) => show({ ...NOTHING, failed: error instanceof Error ? error.message : String(error) }));
    return () => {
      isGone = true;
    };
  }, [index, asked, account]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // After the page itself has taken the focus: the list before the panel has two stops for each of its rows.
    const frame = requestAnimationFrame(() => heading.current?.focus());
    return () => cancelAnimationFrame(frame);
  }, [index, asked]);
  useKeys({ v: () => setAsked((it) => it + 1) });
  const { checked, failed } = state;
  const words = checked === null ? null : VERDICTS[checked.report.verdict];
  return (
    <aside class="proof" aria-label={`Proof of record ${index}`}>
      <div class="row">
        <h2 ref={heading} tabIndex={-1}>
          Record {count(index)}
        </h2>
        <a class="icon end" href={back} aria-label="Close the proof">
          <Icon name="x" small />
        </a>
      </div>
      {about(checked?.leaf ?? null)}
      {failed === null && checked === null ? <Loading rows={4} /> : null}
      {failed === null ? null : (
        <Note mark="unknown" role="wait" isAlert>
          <p>
            <b>Not checked.</b> {failed}
          </p>
        </Note>
      )}
      {checked === null || words === null ? null : (
        <>
          <Note mark={words.mark} role={words.role} isAlert>
            <p>
              <b>{checked.report.verdict === "broken" ? `${words.title} at record ${count(index)}.` : words.title}</b>{" "}
              {textOf(checked)}
            </p>
          </Note>
          <Checks checked={checked} />
          {checked.leaf === null ? null : (
            <>
              <About leaf={checked.leaf} />
              <details>
                <summary>What was recorded</summary>
                <JsonTree text={checked.leaf} label="What was recorded" search="" />
              </details>
            </>
          )}
        </>
      )}
      <Given onChange={() => setAsked((it) => it + 1)} />
      <p class="row">
        <a
          class="btn"
          href={`/v1/audit/export?from_index=${index}&to_index=${index + 1}`}
          download={`record-${index}.ndjson`}
        >
          Save this proof
        </a>
      </p>
      <p class="meta">
        This page comes from the service that it checks. To trust nobody, export the records and check them offline with{" "}
        <code>countersign verify</code> or with <a href="/verify.html">verify.html</a>.
      </p>
    </aside>
  );
};
