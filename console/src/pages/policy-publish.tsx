import { useState } from "preact/hooks";
import { Area, fieldsOf } from "../../design/field.tsx";
import { counted } from "../../design/format.ts";
import { Layer } from "../../design/layer.tsx";
import { toast } from "../../design/toast.tsx";
import { call } from "../api/api.ts";
import type { Problem } from "../api/calls.ts";
import { PlanLimit } from "./plan-limit.tsx";
import type { Definition } from "./policy-definition.ts";
import { changesBetween } from "./policy-difference.ts";
import { definitionOf } from "./policy-draft.ts";
import { faultInForm, nameInForm } from "./policy-fields.ts";
import { ChangeList } from "./policy-lines.tsx";
import type { Policy } from "./policy-words.ts";

type Body = NonNullable<NonNullable<Parameters<typeof call<"PUT /v1/policies/{id}">>[1]>["body"]>;

export type Published =
  | { readonly outcome: "published"; readonly id: string; readonly version: number }
  | { readonly outcome: "proposed"; readonly approvalId: string };

type Sent = { readonly definition: Definition; readonly reason: string; readonly base: number | null };

const send = async (policy: Policy | null, { definition, reason, base }: Sent): Promise<Published | Problem> => {
  // The service has validated the definition, and does so again.
  const body = { ...definition, reason } as Body;
  const answer =
    policy === null
      ? await call("POST /v1/policies", { body })
      : await call("PUT /v1/policies/{id}", {
          params: { id: policy.id },
          body: { ...body, ...(base === null ? {} : { base_version: base }) },
        });
  if (!answer.ok) return answer.problem;
  const { body: made } = answer;
  if (!("version" in made) || typeof made.version !== "number")
    return { outcome: "proposed", approvalId: String(made.approval_id) };
  return { outcome: "published", id: String(made.id), version: made.version };
};

/** A protected policy's next version is proposed: what weakens it waits for its approvers. */
export const publishVerb = (policy: Policy | null): "Propose" | "Publish" =>
  policy?.protected === true ? "Propose" : "Publish";

type PublishProps = {
  /** What is in force; null for a new policy. */
  readonly policy: Policy | null;
  readonly definition: Definition;
  /** The version that the definition was written on; null for a new policy. */
  readonly base: number | null;
  /** Stands in the reason at first. */
  readonly reason?: string;
  readonly onDone: (published: Published) => void;
  /** Another version came first. */
  readonly onConflict: () => void;
  readonly onClose: () => void;
};

/** Asks for the reason, shows what changes, and publishes. */
export const PublishLayer = ({ policy, definition, base, reason = "", onDone, onConflict, onClose }: PublishProps) => {
  /** Why it was not published; `problem` if the service refused it. */
  const [fault, setFault] = useState<{ readonly text: string; readonly problem: Problem | null } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const verb = publishVerb(policy);
  const act = policy === null ? `${verb} the policy` : `${verb} version ${policy.version + 1}`;
  const changes = policy === null ? [] : changesBetween(definitionOf(policy), definition);
  const onSubmit = async (form: HTMLFormElement): Promise<void> => {
    if (isBusy) return;
    const why = fieldsOf(form).reason?.trim() ?? "";
    if (why === "") return setFault({ text: "Write why, so that others can follow it later.", problem: null });
    setBusy(true);
    const done = await send(policy, { definition, reason: why, base });
    setBusy(false);
    if ("outcome" in done) {
      toast.value = {
        text: done.outcome === "published" ? `Version ${done.version} is in force.` : "The version waits for approval.",
      };
      return onDone(done);
    }
    const wrong = done.errors?.[0];
    const text = wrong === undefined ? done.detail : `${nameInForm(wrong.path)}: ${faultInForm(wrong.message)}`;
    setFault({ text, problem: done });
    if (done.code === "conflict") onConflict();
  };
  return (
    <Layer label={act} kind="box" onClose={onClose} isFirm>
      <h3>{act}?</h3>
      {policy === null ? null : (
        <div class="stack tight">
          <p>
            {counted(changes.length, "value differs", "values differ")} from version {policy.version}, which is in
            force.
          </p>
          <ChangeList changes={changes} />
          {verb === "Propose" ? <p>What weakens this policy waits until its approvers have agreed.</p> : null}
        </div>
      )}
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          void onSubmit(event.currentTarget);
        }}
      >
        <Area
          label="Why"
          name="reason"
          value={reason}
          fault={fault?.text ?? null}
          hint="It is recorded and shown with the version."
        />
        <div class="row">
          <button class="btn end" type="button" onClick={onClose}>
            Go on writing
          </button>
          <button class="btn first" type="submit" disabled={isBusy}>
            {act}
          </button>
          <PlanLimit problem={fault?.problem ?? null} />
        </div>
      </form>
    </Layer>
  );
};
