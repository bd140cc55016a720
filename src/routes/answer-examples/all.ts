import type { AnswerExamples } from "../../http/openapi-document.ts";
import { ACCOUNTS } from "./accounts.ts";
import { AGENTS } from "./agents.ts";
import { APPROVALS } from "./approvals.ts";
import { AUDIT } from "./audit.ts";
import { BILLING } from "./billing.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { EVENTS } from "./events.ts";
import { OPERATIONS } from "./operations.ts";
import { POLICIES } from "./policies.ts";
import { SOURCES } from "./sources.ts";
import { TEXTS } from "./texts.ts";

/** Answers of a running service, shortened, with hosts and secrets replaced. */
export const ANSWER_EXAMPLES: AnswerExamples = {
  bodies: {
    ...ACCOUNTS,
    ...AGENTS,
    ...APPROVALS,
    ...AUDIT,
    ...BILLING,
    ...ENDPOINTS,
    ...EVENTS,
    ...OPERATIONS,
    ...POLICIES,
    ...SOURCES,
  },
  texts: TEXTS,
};
