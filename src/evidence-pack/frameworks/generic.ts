import type { JsonObject } from "../../../domain/json.ts";
import * as access from "./access-claims.ts";
import * as approvals from "./approval-claims.ts";
import * as operation from "./operation-claims.ts";

export const GENERIC: JsonObject = {
  v: 1,
  id: "generic",
  title: "Questions that an auditor of any framework may ask",
  source: "No framework. Each heading is a question, for a control of your own.",
  controls: [
    {
      id: "approvals",
      title: "Was anything done that needed an approval and had none?",
      may_support: "Controls on dual control, separation of duties and authorization of transactions.",
      claims: [
        approvals.noAttemptWhileHeld,
        approvals.releasesApproved,
        approvals.bundlesApproved,
        approvals.noStepWhileHeld,
        approvals.votersMayVote,
        operation.rejections,
      ],
      not_evidenced: ["Whether two members are two people.", "Whether an approver understood what was shown."],
    },
    {
      id: "money",
      title: "Were spending limits kept?",
      may_support: "Controls on limits of transactions and on spending by programs.",
      claims: [operation.budgetsKept],
      not_evidenced: ["What was really paid. The cost is what the policy, the request or the receiver stated."],
    },
    {
      id: "changes",
      title: "Who changed the rules, and who approved it?",
      may_support: "Controls on change management.",
      claims: operation.CHANGE_CLAIMS,
      not_evidenced: [
        "Changes of the service's software and of other systems.",
        "That a weakening by way of an agent, source, action, endpoint or member had an approval.",
      ],
    },
    {
      id: "access",
      title: "Who had access, and when did it end?",
      may_support: "Controls on the registration of users and programs and on the end of their access.",
      claims: [
        access.membersInvited,
        access.memberChanges,
        access.keyChanges,
        access.noSessionAfterRemoval,
        access.keysInForce,
        access.agentsInForce,
        access.payloadsRead,
        access.callsRefused,
      ],
      not_evidenced: ["Access to machines, databases and backups.", "Whether roles fit the members' duties."],
    },
    {
      id: "operation",
      title: "What was decided, delivered and refused?",
      may_support: "Controls on the processing of transactions and on monitoring.",
      claims: [
        operation.decisions,
        operation.decidedByPolicy,
        operation.deliveriesEnded,
        operation.deliveredWithAnswer,
        operation.admissionsOnce,
        operation.forgeriesCounted,
        operation.endpointAlarms,
        operation.suspensions,
        operation.replays,
        operation.rollbacks,
      ],
      not_evidenced: ["What a receiver did with a delivery.", "Requests that never reached the service."],
    },
    {
      id: "data",
      title: "What was erased, and what was damaged?",
      may_support: "Controls on retention and on the integrity of stored data.",
      claims: [operation.erasures, operation.noDamage],
      not_evidenced: ["That the bytes have left every disk and backup.", "Copies outside of this service."],
    },
  ],
  not_evidenced: ["The suitability of any control. The records show operation alone, in this one service."],
};
