import { counted } from "../../design/format.ts";
import { isOfLedger, LEDGER_TYPES, ledgerSentence } from "./record-ledgers.ts";
import type { Parts } from "./record-parts.ts";

/** What stands before and after the name of the thing. */
type Sentence = readonly [before: string, after: string];
type Told = (it: Parts) => Sentence;

const joined = (text: string, before = ", "): string => (text === "" ? "" : `${before}${text}`);

const asked =
  (outcome: string): Told =>
  (it) => {
    const isAgent = it.part("origin").text("kind") === "agent";
    const refused = it
      .part("verdict")
      .list("gates")
      .find((gate) => gate.text("outcome") === "deny");
    const why = refused === undefined ? "" : `: ${refused.text("detail")}`;
    return [isAgent ? "asked for " : "sent ", `${joined(it.cost("cost"))}; it ${outcome}${why}`];
  };

const bundleAsked =
  (outcome: string): Told =>
  (it) => [`asked for ${counted(it.list("steps").length, "step")} as one, `, `; it ${outcome}`];

const attempt: Told = (it) => {
  const status = it.text("status_code");
  const end = status === "" ? it.part("failure").text("detail") : `HTTP ${status}`;
  return ["sent ", ` to ${it.named("endpoint_id")}, attempt ${it.text("number")}${joined(end, "; ")}`];
};

/** Steps are counted from 1 for people. */
const step =
  (before: string, after: (it: Parts) => string): Told =>
  (it) => [`${before} ${it.count("index") + 1} of `, after(it)];

const settled: Told = (it) =>
  it.cost("cost") === "" ? ["gave back what was reserved for ", ""] : [`spent ${it.cost("cost")} on `, ""];

const member = (before: string, after: (it: Parts) => string = () => ""): Told => {
  return (it) => [`${before}${joined(it.named("member"), " ")}${after(it)} in `, ""];
};

/** A star stands for the name. */
const TOLD: Readonly<Record<string, string | Told>> = {
  // Requests and their deliveries.
  EventAdmitted: asked("was let through"),
  EventBlocked: asked("was refused"),
  EventHeld: asked("was held"),
  EventHeldAgain: asked("was held again"),
  EventReleased: "released * after its approval",
  HoldWithdrawn: "ended the hold of *, which had been delivered",
  HoldEnded: (it) => ["ended the hold of ", `: ${it.text("outcome")}`],
  CancellationRequested: "asked to cancel *",
  EventCancelled: "cancelled *",
  EventReplayed: (it) => ["replayed ", joined(it.named("endpoint_id"), " to ")],
  CostDetermined: settled,
  BundleStepEnded: (it) => ["ended the bundle's step ", `: ${it.text("outcome")}`],
  AdmissionAbandoned: "gave up the unfinished request *",
  DuplicatesCounted: (it) => [`counted ${counted(it.count("count"), "repeat")} of `, ""],
  DeliveryIdReused: (it) => [`refused ${counted(it.count("count"), "request")} with the id of `, " and another body"],
  AttemptStarted: (it) => ["began to send ", ` to ${it.named("endpoint_id")}, attempt ${it.text("number")}`],
  AttemptSucceeded: attempt,
  AttemptFailed: attempt,
  EventDelivered: (it) => ["delivered ", joined(it.named("endpoint_id"), " to ")],
  DeliveryFailed: (it) => ["gave up ", joined(it.part("failure").text("detail"), ": ")],
  PayloadErased: "erased the payload of *",
  PayloadDamageFound: "found the payload of * damaged",
  // Decisions.
  // The name has the cost.
  ApprovalRequested: "asked people to approve *",
  VoteCast: (it) => [it.text("decision") === "reject" ? "rejected " : "approved ", ""],
  HiddenFieldsRevealed: "revealed the hidden fields of *",
  ApprovalGranted: "gave the last approval that was needed for *",
  ApprovalRejected: "ended the approval of *: rejected",
  ApprovalExpired: "ended the approval of *: nobody decided in time",
  ApprovalCancelled: "cancelled the approval of *",
  ApprovalVoided: "voided the approval of *, whose request changed",
  // Bundles.
  BundleAdmitted: bundleAsked("was let through"),
  BundleBlocked: bundleAsked("was refused"),
  BundleHeld: bundleAsked("was held"),
  BundleHeldAgain: bundleAsked("was held again"),
  BundleAbandoned: "gave up the unfinished bundle *",
  BundleReleased: "released the bundle * after its approval",
  BundleHoldEnded: (it) => ["ended the hold of the bundle ", `: ${it.text("outcome")}`],
  StepStarted: step("began step", () => ""),
  StepRefused: step("refused step", (it) => `: ${it.text("detail")}`),
  StepEnded: step("ended step", (it) => `: ${it.text("outcome")}`),
  RollbackStarted: "began to roll back *",
  UndoStarted: step("began to undo step", () => ""),
  StepUndone: step("ended the undo of step", (it) => `: ${it.text("outcome")}`),
  BundleCommitted: "finished every step of *",
  BundleRolledBack: "rolled back *",
  RollbackIncomplete: "rolled back * as far as it could; steps are left to undo by hand",
  StepResolved: step("marked as undone step", () => ""),
  BundlePayloadErased: "erased the payload of the bundle *",
  BundlePayloadDamageFound: "found the payload of the bundle * damaged",
  BundleCostDetermined: settled,
  // Replays of many events.
  ReplayStarted: (it) => [`began to replay ${counted(it.count("total"), "event")}, `, ""],
  ReplayProgressed: "went on with the replay *",
  ReplayCancelled: "cancelled the replay *",
  ReplayFinished: "finished the replay *",
  ReplayPlaceTaken: "counted one more running replay of *",
  ReplayAbandoned: "gave up the unfinished replay *",
  // Budgets.
  LedgerOpened: "opened the count of *",
  BudgetThresholdReached: (it) => [`saw ${it.text("threshold")} % used of `, ""],
  LedgerClosed: "closed the count of *",
  // What is set up.
  SourceRegistered: "added the source *",
  SourceChanged: "changed the source *",
  SourceSecretRotated: "made a new secret for the source *",
  SourceRejectsCounted: "counted requests with a wrong signature to *",
  SourceDeleted: "removed the source *",
  EndpointRegistered: "added the endpoint *",
  EndpointChanged: "changed the endpoint *",
  EndpointPutUnderApproval: "put the endpoint * under approval",
  EndpointSecretRotated: "made a new secret for the endpoint *",
  EndpointDisabled: "disabled the endpoint *",
  EndpointDegraded: "saw failures of the endpoint *",
  EndpointOpened: "opened the circuit of *",
  EndpointProbed: "probed the endpoint *",
  EndpointProbeDeferred: "put off the next probe of *",
  EndpointWarned: "warned that * will be disabled",
  EndpointRecovered: "saw that the endpoint * recovered",
  // The record does not say which of the two was needed.
  EndpointEnabled: "let events go to the endpoint * again: it is enabled and its circuit closed",
  EndpointDeleted: "removed the endpoint *",
  EndpointTestSent: "sent a test to *",
  AgentRegistered: "added the agent *",
  AgentChanged: "changed the agent *",
  AgentKeyRotated: "made a new key for the agent *",
  AgentSuspended: "suspended the agent *",
  AgentResumed: "resumed the agent *",
  AgentDeleted: "removed the agent *",
  AgentKeyIssued: "issued the agent's key *",
  ApiKeyIssued: "issued the API key *",
  ApiKeyUsed: (it) => ["used the API key ", ` for the first time on ${it.text("day")}`],
  ActionDefined: (it) => ["defined the action ", joined(it.text("version"), ", version ")],
  ActionDeleted: "removed the action *",
  PolicyPublished: (it) => ["published the policy ", joined(it.text("version"), ", version ")],
  ControlsChanged: "recorded a change of the controls of *",
  ControlsWeakened: "recorded a change that weakens the controls of *",
  ControlsCorrected: "corrected the controls of *",
  ProtectionLiftRequested: "asked to lift the protection of a policy in *",
  ProtectionLiftCancelled: "cancelled the lift of a policy's protection in *",
  ProtectionLifted: "lifted the protection of a policy in *",
  HeldChangePlaced: "held a change in *",
  ChangeHeld: "asked for the change *, which was held",
  ChangeAbandoned: "gave up the unfinished change *",
  ChangeApplied: "made the change *",
  ChangeVoided: "voided the change *",
  ChangeEnded: (it) => ["ended the change ", `: ${it.text("outcome")}`],
  // People.
  AccountOpened: "opened the account *",
  AccountChanged: (it) => {
    const to = it.part("changes");
    const now = [joined(to.text("name"), "name "), joined(to.text("time_zone"), "time zone ")];
    return ["changed the account ", `: ${now.filter((it) => it !== "").join(", ")}`];
  },
  MemberInvited: member("invited", (it) => joined(it.text("role"), " as ")),
  InvitationWithdrawn: member("withdrew the invitation of"),
  MemberAdded: member("added", (it) => joined(it.text("role"), " as ")),
  MemberRemoved: member("removed"),
  MemberRoleChanged: member("changed the role of", (it) => joined(it.text("role"), " to ")),
  ResetLinkMade: member("made a link to reset the password of"),
  PasswordChanged: member("changed the password of"),
  SessionsEnded: member("ended other sessions of"),
  ApiKeyCreated: (it) => [`made the API key ${it.text("name")} in `, ""],
  ApiKeyRevoked: (it) => [`revoked the API key ${it.named("key_id")} in `, ""],
  PlanChanged: (it) => [`changed the plan to ${it.text("plan")} of `, ""],
  DowngradeScheduled: (it) => [`scheduled the change to ${it.text("plan")} of `, ""],
  DowngradeCancelled: "cancelled the change of plan of *",
  SubscriptionChanged: (it) => [`recorded the subscription as ${it.text("status")} of `, ""],
  OverageReported: (it) => [`reported ${counted(it.count("blocks"), "block")} of overage for `, ""],
  BillingLinkMade: (it) => [`opened the billing ${it.text("page")} for `, ""],
  EmailClaimed: "claimed the e-mail address *",
  EmailReleased: "gave back the e-mail address *",
  SessionOpened: (it) => [it.text("made_by") === "" ? "signed in, " : "signed in from the command line, ", ""],
  SessionClosed: "signed out, *",
  DeviceLoginRequested: "asked for a command line's sign-in, *",
  DeviceLoginApproved: "allowed a command line's sign-in, *",
  DeviceLoginDenied: "refused a command line's sign-in, *",
  DeviceLoginRedeemed: "signed in a command line, *",
  PreferencesSet: "changed the preferences of *",
  PersonalDataErased: "erased the personal data *",
  MemberErased: "erased all personal data of *",
  // Reads and refusals that are counted.
  PayloadRead: (it) => [`read the payload of ${it.named("subject")}, `, ""],
  MorePayloadsRead: "read more payloads, *",
  CallsRefused: (it) => [`was refused (${it.text("problem")}) at ${it.text("route")}, `, ""],
  MoreCallsRefused: "was refused more calls, *",
  RequestsRefused: "was refused requests, *",
  MoreRepeatsCounted: "counted more repeats, *",
  ReplayTried: (it) => [`planned a replay of ${counted(it.count("events"), "event")}, `, ""],
  MoreReplaysTried: "planned more replays, *",
  KeyMapSealed: "sealed the map of keys of *",
};

export const knownTypes = (): readonly string[] => [...Object.keys(TOLD), ...LEDGER_TYPES];

/** Null for a record of a newer service, which has no sentence here. */
export const sentenceFor = (type: string, it: Parts, subject: string): Sentence | null => {
  if (isOfLedger(type)) return [ledgerSentence(type, it, subject), ""];
  const told = Object.hasOwn(TOLD, type) ? TOLD[type] : undefined;
  if (told === undefined) return null;
  if (typeof told === "function") return told(it);
  const [before = "", after = ""] = told.split("*");
  return [before, after];
};
