import type { JsonObject } from "../../../domain/json.ts";
import * as access from "./access-claims.ts";
import * as approvals from "./approval-claims.ts";
import * as operation from "./operation-claims.ts";

/**
 * The numbers and subjects were compared with published copies of the criteria (TSP section 100): those of CC at
 * https://github.com/alsmola/graphgrc (`soc2/`), of PI1 at https://ce.prod.cloudaware.com/frameworks/soc-2/pi1, and C1.2 at
 * https://learn.microsoft.com/azure/governance/policy/samples/soc-2. The titles are our words for them: the text is the
 * AICPA's, and an auditor has it.
 */
export const SOC2: JsonObject = {
  v: 1,
  id: "soc2",
  title: "SOC 2: records that may support some Trust Services Criteria",
  source:
    "Numbers of the AICPA's 2017 Trust Services Criteria (TSP section 100, with the points of focus revised in 2022). Titles are abridged in our words; read the criteria themselves.",
  controls: [
    {
      id: "CC6.1",
      title: "Logical access to protected information is restricted",
      may_support:
        "The operation of this service's own access checks: API keys, agents' keys, and the reading of payloads.",
      claims: [access.keysInForce, access.callsRefused, access.payloadsRead, operation.forgeriesCounted],
      not_evidenced: [
        "Access to the machines, databases, networks and backups on which this service runs.",
        "The strength of authentication, encryption in transit and at rest, and how keys are stored.",
        "Whether the receivers of deliveries check their signatures.",
      ],
    },
    {
      id: "CC6.2",
      title: "Users are registered and authorized before they get credentials, and lose them when access ends",
      may_support:
        "The registration of members and credentials within this service, and the end of their sessions and keys.",
      claims: [access.membersInvited, access.memberChanges, access.noSessionAfterRemoval],
      not_evidenced: [
        "Whether the person who accepted an invitation is the person who was meant, and who authorized the invitation outside of this service.",
        "Whether members were removed in time after they left the organization: the records do not know who left.",
      ],
    },
    {
      id: "CC6.3",
      title: "Access is given, changed and removed by role, with least privilege and separated duties",
      may_support:
        "Changes of roles and credentials, the end of suspended agents' access, and that requesters did not decide on their own requests where that was excluded.",
      claims: [
        access.keyChanges,
        access.agentsInForce,
        approvals.votersMayVote,
        approvals.releasesApproved,
        approvals.bundlesApproved,
      ],
      not_evidenced: [
        "Whether the roles fit the members' duties, and whether access was reviewed regularly.",
        "Whether two members are two people.",
      ],
    },
    {
      id: "CC7.2",
      title: "System components are monitored for anomalies",
      may_support: "What the service itself noticed and recorded about requests, receivers and budgets.",
      claims: [operation.decisions, operation.decidedByPolicy, operation.endpointAlarms, operation.noDamage],
      not_evidenced: [
        "Whether anybody looked at these records, or was alerted.",
        "The monitoring of infrastructure, of other systems, and of the log's own storage.",
      ],
    },
    {
      id: "CC7.3",
      title: "Security events are evaluated, and action is taken",
      may_support:
        "Decisions that people and policies made on single requests and agents, with the reasons that were given.",
      claims: [operation.suspensions, operation.rejections],
      not_evidenced: [
        "How incidents were classified, communicated and followed up.",
        "Whether a reason that somebody gave is true or sufficient.",
      ],
    },
    {
      id: "CC8.1",
      title: "Changes are authorized, approved and carried out under control",
      may_support:
        "Changes of this account's policies, agents, sources, actions, endpoints and members: who made them, and the approvals of those that weaken a protected policy.",
      claims: operation.CHANGE_CLAIMS,
      not_evidenced: [
        "Changes of the service's own software, of its deployment, and of other systems.",
        "That a weakening by way of an agent, source, action, endpoint or member had an approval: these are listed with their reasons, and only changes of protected policies themselves are matched with approvals.",
        "Design, testing and documentation of changes.",
      ],
    },
    {
      id: "PI1.2",
      title: "Inputs are complete and accurate",
      may_support:
        "The handling of requests at the point of entry: each with a verdict, repeats counted and not processed twice.",
      claims: [operation.decisions, operation.admissionsOnce, operation.forgeriesCounted],
      not_evidenced: [
        "That senders sent everything that they should have sent, and that what they sent is right.",
        "Requests that never reached the service, or that it refused under overload before it decided on them.",
      ],
    },
    {
      id: "PI1.3",
      title: "Processing follows its specification",
      may_support:
        "That requests passed the gates and approvals which the account's policies asked for, and stayed within budgets.",
      claims: [
        approvals.noAttemptWhileHeld,
        approvals.noStepWhileHeld,
        approvals.releasesApproved,
        operation.budgetsKept,
        operation.rollbacks,
      ],
      not_evidenced: [
        "That the policies are suitable, and that the gates compute what they should: a record has the verdict, and not the computation.",
        "Costs that a receiver reported higher than what was reserved, other than that they are counted.",
      ],
    },
    {
      id: "PI1.4",
      title: "Outputs are delivered completely, accurately and on time",
      may_support: "Deliveries: that each ended, and that each counted as done was answered by its receiver.",
      claims: [operation.deliveriesEnded, operation.deliveredWithAnswer, operation.replays],
      not_evidenced: [
        "What the receiver did with a delivery.",
        "That times are right: recorded_at is the operator's word.",
      ],
    },
    {
      id: "PI1.5",
      title: "Inputs, items in processing and outputs are stored completely and accurately",
      may_support: "That the records of this export are complete and unchanged, and what was erased of their payloads.",
      claims: [operation.noDamage, operation.erasures],
      not_evidenced: [
        "That payloads were kept as long as they should have been; erased payloads cannot be shown.",
        "Backups, and whether they can be restored.",
      ],
    },
    {
      id: "C1.2",
      title: "Confidential information is disposed of",
      may_support: "Erasures that the service recorded, with their reasons.",
      claims: [operation.erasures],
      not_evidenced: [
        "That the bytes have left every disk and backup.",
        "Copies that receivers, exports and readers have.",
      ],
    },
  ],
  not_evidenced: [
    "All criteria that are not listed here, such as the control environment (CC1), communication (CC2), risk assessment (CC3), physical access (CC6.4) and risk mitigation (CC9).",
    "The suitability of the design of any control. The records show operation alone, in this one service.",
  ],
};
