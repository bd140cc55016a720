import { count, counted } from "../../design/format.ts";

type Replay = {
  readonly status: "running" | "done" | "cancelled";
  readonly total: number;
  readonly done: number;
  readonly delivered: number;
  readonly failed: number;
  readonly skipped: number;
  readonly waiting: number;
};

const SKIPPED: Readonly<Record<string, string>> = {
  "bundle-step": "a step of a bundle is not sent alone",
  "payload-erased": "the payload was erased",
  "payload-not-kept": "the payload was not kept",
  "payload-damaged": "the payload is damaged",
  "endpoint-deleted": "the endpoint was removed",
  "endpoint-disabled": "the endpoint is disabled",
  "source-deleted": "the source was removed",
  "source-paused": "the source is paused",
  "agent-deleted": "the agent was removed",
  "agent-suspended": "the agent is suspended",
  "action-unknown": "the action was removed",
  "action-changed": "the action was changed",
  "approval-needed": "a person has to decide first",
  "refused-by-policy": "a policy refuses it",
  "replayed-too-often": "it was replayed too often",
  changed: "it changed before its turn",
  error: "it could not be replayed",
};
const WAITING: Readonly<Record<string, string>> = {
  "circuit-open": "its circuit is open",
  "endpoint-disabled": "it is disabled",
};

export const skippedText = (reason: string): string => SKIPPED[reason] ?? reason;
export const waitingText = (reason: string): string => WAITING[reason] ?? reason;

/** The state whose mark is shown: the tick only if every event was delivered. */
export const replayState = ({ status, total, delivered, failed }: Replay): string => {
  if (status !== "done") return status;
  if (delivered === total) return "delivered";
  return failed > 0 ? "failed" : "recorded";
};

export const WORDS = { running: "Running", done: "Finished", cancelled: "Cancelled" } as const;

/** "Finished: 12 delivered, 4 failed, 2 skipped. 5 more wait" */
export const replayWord = ({ status, delivered, failed, skipped, waiting }: Replay): string => {
  const parts = [
    `${delivered} delivered`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  return `${WORDS[status]}: ${parts.join(", ")}${waiting > 0 ? `. ${moreWait(waiting)}` : ""}`;
};

export const wait = (many: number): string => (many === 1 ? "waits" : "wait");
const moreWait = (many: number): string => `${many} more ${wait(many)}`;
const UNTIL: Readonly<Record<string, string>> = { "circuit-open": "answers", "endpoint-disabled": "is enabled" };

/** "6 of 16 are done, 10 wait": `done` counts those that wait, too. */
export const doneText = ({ done, total, waiting }: Pick<Replay, "done" | "total" | "waiting">): string =>
  `${count(done - waiting)} of ${count(total)} are done${waiting === 0 ? "" : `, ${count(waiting)} ${wait(waiting)}`}`;

type WaitingAt = { readonly name: string; readonly reason: string; readonly count: number };

/** What waits, by the names of the endpoints that it waits for. */
export const namedWaits = (
  waits: readonly (Omit<WaitingAt, "name"> & { readonly endpoint_id: string })[],
  nameOf: (id: string) => string | null,
): readonly WaitingAt[] => waits.map((it) => ({ ...it, name: nameOf(it.endpoint_id) ?? "an endpoint" }));

export const untilText = ({ name, reason }: Pick<WaitingAt, "name" | "reason">): string =>
  `until ${name} ${UNTIL[reason] ?? "answers"}`;

/** The same in sentences, with what each of those that wait is waiting for. */
export const replayText = (replay: Replay, waitingAt: readonly WaitingAt[]): string =>
  [replayWord({ ...replay, waiting: 0 }), ...waitingAt.map((it) => `${moreWait(it.count)} ${untilText(it)}`)]
    .map((it) => `${it}.`)
    .join(" ");

type Plan = {
  /** Those that wait are counted, too. */
  readonly count: number;
  readonly waiting: number;
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
};

/** "Sends 13 events now. 5 wait until erp-bridge answers. Skips 2: the endpoint is disabled." */
export const planText = (plan: Plan, waitingAt: readonly WaitingAt[]): string => {
  const skips = plan.skipped.map((it) => `${it.count}: ${skippedText(it.reason)}`).join("; ");
  return [
    `Sends ${counted(plan.count - plan.waiting, "event")} now.`,
    ...waitingAt.map((it) => `${it.count} ${wait(it.count)} ${untilText(it)}.`),
    ...(skips === "" ? [] : [`Skips ${skips}.`]),
  ].join(" ");
};
