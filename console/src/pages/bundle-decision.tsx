import { Seal } from "../../design/seal.tsx";
import { Facts, Section, Time } from "../../design/text.tsx";
import type { AnswerOf } from "../api/api.ts";
import { withHolders } from "../api/holders.ts";
import { mayIt } from "../api/may-decide.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import { bundleCost, policyIn } from "./bundle-verdict.ts";
import { numberOf } from "./bundle-words.ts";
import { type Approval, useApproval } from "./use-approval.ts";

type Bundle = AnswerOf<"GET /v1/bundles/{id}">;

const NOT_BEGUN: readonly string[] = ["held", "blocked"];

type ShownProps = { readonly bundle: Bundle; readonly approval: Approval | null };

const Decision = ({ bundle, approval }: ShownProps) => {
  const nameOf = useNames();
  const policy = policyIn(bundle.verdict);
  const votes = (decision: string) =>
    (approval?.votes ?? [])
      .filter((vote) => vote.decision === decision)
      .map((vote, nth) => (
        <>
          {nth === 0 ? "" : ", "}
          {nameOf(vote.member_id) ?? "a member"}, <Time at={vote.at} />
        </>
      ));
  const [given, against] = [votes("approve"), votes("reject")];
  const byHand = bundle.steps.flatMap((step) =>
    step.resolution === null
      ? []
      : [
          <div key={step.index}>
            Step {numberOf(step)}, by {nameOf(step.resolution.by) ?? "a member"}, <Time at={step.resolution.at} />
          </div>,
        ],
  );
  // The service had ended its part before people undid what it left to them.
  const isLeft = byHand.length > 0 || bundle.status === "rollback_incomplete";
  const cost = bundleCost(bundle);
  return (
    <Section title="Decision">
      <Facts
        rows={[
          ["Approval", bundle.approval_id === undefined ? "The policy asked for none" : ""],
          ["Approved by", given.length === 0 ? "" : given],
          ["Rejected by", against.length === 0 ? "" : against],
          [
            "Policy",
            policy === null ? (
              "None"
            ) : (
              <>
                <a href={`/policies/${encodeURIComponent(policy.id)}`}>{nameOf(policy.id) ?? policy.id}</a>{" "}
                <span class="quiet">v{policy.version}</span>
              </>
            ),
          ],
          [bundle.ended_at === null ? "Reserved" : "Spent", NOT_BEGUN.includes(bundle.status) ? "" : cost],
          ["Would cost", NOT_BEGUN.includes(bundle.status) ? cost : ""],
          [isLeft ? "Rollback ended" : "Ended", bundle.ended_at === null ? "" : <Time at={bundle.ended_at} />],
          ["Undone by hand", byHand.length === 0 ? "" : byHand],
        ]}
      />
    </Section>
  );
};

const Proof = ({ bundle, approval }: ShownProps) => (
  <Section title="Proof">
    <div class="stack tight">
      {approval === null ? null : <Seal digest={approval.digest} label="Seal of the bundle that people decide on" />}
      <p class="meta">
        Each step is a record of its own, sealed like all others.{" "}
        {mayIt("auditor") ? (
          <a href={hrefOf("/audit", { q: bundle.id, order: "asc" })}>Records of this bundle</a>
        ) : (
          withHolders("An auditor, an approver, an admin or an owner reads them", "auditor")
        )}
      </p>
    </div>
  </Section>
);

/** Who let it through, by which policy, what it cost, what people signed, and the records about it. */
export const Decided = ({ bundle }: { readonly bundle: Bundle }) => {
  const approval = useApproval(bundle.approval_id ?? null);
  return (
    <div class="half">
      <Decision bundle={bundle} approval={approval} />
      <Proof bundle={bundle} approval={approval} />
    </div>
  );
};
