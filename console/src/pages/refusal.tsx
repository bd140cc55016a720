import { Note } from "../../design/text.tsx";
import { type AnswerOf, call, me } from "../api/api.ts";
import { now } from "../shell/clock.ts";
import { NOT_ASKED, useAnswer } from "../shell/use-answer.ts";
import { type Gate, type PolicyRef, type Rule, refusalOf } from "./gate-words.ts";
import { MessageText } from "./message-text.tsx";
import { placeOfLimit, USAGE } from "./plan-limit.tsx";

type RefusalProps = {
  /** The gate that refused. */
  readonly gate: Gate;
  /** The policy that was asked; null if the gate needs none. */
  readonly policy: PolicyRef | null;
  /** Null for what a source sent. */
  readonly agentId: string | null;
  readonly from: string;
  readonly what: string | null;
  readonly run: string | null;
  /** When it was asked, ISO 8601. */
  readonly at: string;
};

/** As many versions as one answer has; the rules of an older one are named without their expressions. */
const VERSIONS_MAX = 100;

const useRules = (policy: PolicyRef | null): readonly Rule[] => {
  const { id = "", version = 0 } = policy ?? {};
  const shown = useAnswer<AnswerOf<"GET /v1/policies/{id}/versions"> | null>({ key: `rules ${id}`, on: null }, () =>
    policy === null
      ? Promise.resolve(NOT_ASKED)
      : call("GET /v1/policies/{id}/versions", { params: { id }, query: { limit: VERSIONS_MAX } }),
  );
  return shown.body?.data.find((it) => it.version === version)?.deny ?? [];
};

const useScope = (agentId: string | null): readonly string[] | null => {
  const shown = useAnswer<AnswerOf<"GET /v1/agents/{id}"> | null>({ key: `scope ${agentId}`, on: null }, () =>
    agentId === null ? Promise.resolve(NOT_ASKED) : call("GET /v1/agents/{id}", { params: { id: agentId } }),
  );
  return shown.body?.scope.actions ?? null;
};

/** Where the rule stands that refused: an agent has its scope, an action its form, the plan its limits, a policy all others. */
const ruleOf = (gate: Gate, { policy, agentId, what }: Pick<RefusalProps, "policy" | "agentId" | "what">) => {
  if (gate.gate === "scope") return agentId === null ? null : { label: "Open the agent", href: `/agents/${agentId}` };
  if (gate.gate === "schema")
    return what === null ? null : { label: "Open the action", href: `/agents/actions/${encodeURIComponent(what)}` };
  if (["quota", "bytes"].includes(gate.gate)) return USAGE;
  const limit = placeOfLimit(gate.code);
  if (limit !== null) return limit;
  return policy === null ? null : { label: "Open the policy", href: `/policies/${policy.id}` };
};

/** What a gate refused, why, and what to do about it. */
export const Refusal = ({ gate, policy, agentId, ...asked }: RefusalProps) => {
  const rules = useRules(gate.gate === "content" ? policy : null);
  const scope = useScope(gate.code === "out-of-scope" ? agentId : null);
  const zone = me.value?.account.time_zone ?? "UTC";
  const message = refusalOf(gate, { ...asked, zone, now: now.value, rules, scope });
  const rule = ruleOf(gate, { policy, agentId, what: asked.what });
  return (
    <Note role="refuse" mark="refused">
      <p>
        <MessageText message={message} />
      </p>
      {rule === null ? null : (
        <div class="row">
          <a class="btn first" href={rule.href}>
            {rule.label}
          </a>
        </div>
      )}
    </Note>
  );
};
