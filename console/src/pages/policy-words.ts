import { count, counted, duration, euro } from "../../design/format.ts";
import type { AnswerOf } from "../api/api.ts";

export type Policy = AnswerOf<"GET /v1/policies/{id}">;
type Loop = NonNullable<Policy["loop"]>;
type Approval = NonNullable<Policy["approval"]>;

const loopWords = ({ max_identical, window_s, max_per_run, max_depth }: Loop): readonly string[] => [
  ...(max_identical === undefined ? [] : [`${count(max_identical)} identical in ${duration((window_s ?? 0) * 1_000)}`]),
  ...(max_per_run === undefined ? [] : [`${count(max_per_run)} a run`]),
  ...(max_depth === undefined ? [] : [`depth ${count(max_depth)}`]),
];

const approvalWords = ({ when, min_approvals = 1 }: Approval): string =>
  `${counted(min_approvals, "approval")} ${when === undefined ? "of every request" : `when ${when}`}`;

/** What a policy limits, in a few words each; empty if it limits nothing. */
export const limitWords = (it: Partial<Policy>): readonly string[] => [
  ...(it.budget_eur_day === undefined ? [] : [`${euro(it.budget_eur_day)} a day`]),
  ...(it.rate_per_minute === undefined ? [] : [`${count(it.rate_per_minute)} a minute`]),
  ...(it.loop === undefined ? [] : loopWords(it.loop)),
  ...(it.approval === undefined ? [] : [approvalWords(it.approval)]),
  ...(it.deny === undefined || it.deny.length === 0
    ? []
    : [counted(it.deny.length, "rule that refuses", "rules that refuse")]),
  ...(it.schema === undefined ? [] : ["a schema"]),
  ...(it.require_fields === undefined || it.require_fields.length === 0
    ? []
    : [counted(it.require_fields.length, "required field")]),
  ...(it.redact === undefined || it.redact.length === 0 ? [] : [counted(it.redact.length, "hidden field")]),
];

export type Use = {
  readonly kind: "agent" | "source" | "endpoint" | "action";
  readonly id: string;
  readonly name: string;
};
