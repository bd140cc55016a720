import { counted } from "../../design/format.ts";
import { stateOf } from "../../design/states.ts";
import { skippedText, untilText, wait } from "./replay-text.ts";

type Replayed = { readonly status: string; readonly bundle: object | null };

/** A refused event passes the gates again. What a person rejected, or was cancelled, only its sender can send anew. */
const isReplayable = ({ status, bundle }: Replayed): boolean =>
  bundle === null && (status === "failed" || status === "blocked");

const STOPPED: Readonly<Record<string, string>> = {
  rejected: "was rejected",
  expired: "has expired",
  cancelled: "was cancelled",
};

/** Why an event cannot be replayed; null if it can. */
export const whyNotReplayable = (event: Replayed): string | null => {
  const { status, bundle } = event;
  if (isReplayable(event)) return null;
  if (status === "delivered") return "This event was delivered. A delivered event is not sent again.";
  if (bundle !== null) return "This event is a step of a bundle, and is not sent alone.";
  if (Object.hasOwn(STOPPED, status)) return `This event ${STOPPED[status]}. Its sender can send it as a new event.`;
  if (status === "recorded") return "This event was only recorded: there is no endpoint to send it to.";
  return status === "held" ? "This event is held: approve or reject it." : "This event is still on its way.";
};

/** What the service says that the replay of one event would do. */
export type EventPlan = {
  readonly event_id: string;
  readonly status: string;
  readonly skipped: string | null;
  readonly waiting: { readonly endpoint_id: string; readonly reason: string } | null;
};

const many = <T>(all: readonly T[], textOf: (it: T) => string): readonly (readonly [text: string, count: number])[] => {
  const counts = new Map<string, number>();
  for (const it of all) counts.set(textOf(it), (counts.get(textOf(it)) ?? 0) + 1);
  return [...counts];
};

/** An event without a hindrance but in another state is told by its state. */
const skipText = ({ skipped, status }: EventPlan): string =>
  skipped === "changed" ? stateOf(status).word.toLowerCase() : skippedText(skipped ?? "");

type Waits = NonNullable<EventPlan["waiting"]>;

/** A replay by hand does not wait for an open circuit: it is a probe, and waits if that fails. */
const waitText = ({ reason }: Waits, count: number, until: string): string =>
  reason === "circuit-open"
    ? `${counted(count, "event")} ${count === 1 ? "is" : "are"} tried once and, if that fails, ${wait(count)} ${until}.`
    : `${counted(count, "event")} ${wait(count)} ${until}.`;

/** "Sends 2 events now. 1 refused event passes the gates again. Skips 1: the endpoint is disabled." */
export const eventPlanText = (plans: readonly EventPlan[], nameOf: (id: string) => string | null): string => {
  const sent = plans.filter(({ skipped }) => skipped === null);
  const refused = sent.filter(({ status }) => status === "blocked").length;
  const now = sent.filter(({ status, waiting }) => status !== "blocked" && waiting === null).length;
  const waits = many(
    sent.flatMap(({ waiting }) => (waiting === null ? [] : [waiting])),
    ({ endpoint_id, reason }) => `${endpoint_id} ${reason}`,
  );
  const skips = many(
    plans.filter(({ skipped }) => skipped !== null),
    skipText,
  );
  return [
    ...(sent.length === 0 ? ["Sends nothing."] : []),
    ...(now === 0 ? [] : [`Sends ${counted(now, "event")} now.`]),
    ...(refused === 0
      ? []
      : [`${counted(refused, "refused event")} ${refused === 1 ? "passes" : "pass"} the gates again.`]),
    ...waits.map(([key, count]) => {
      const [endpoint_id = "", reason = ""] = key.split(" ");
      const name = nameOf(endpoint_id) ?? "its endpoint";
      return waitText({ endpoint_id, reason }, count, untilText({ name, reason }));
    }),
    ...(skips.length === 0 ? [] : [`Skips ${skips.map(([text, count]) => `${count}: ${text}`).join("; ")}.`]),
  ].join(" ");
};

/** What became of one event that was to be replayed. */
export type Outcome = {
  /** Its type, or its id where it has none. */
  readonly name: string;
  /** Its new state; null if it was not replayed. */
  readonly status: string | null;
  /** Why it was not replayed; empty if it was. */
  readonly fault: string;
};

/** "3 events are on their way again. 1 is held until a person decides. 2 were not sent." */
export const outcomeText = (outcomes: readonly Outcome[]): string => {
  const held = outcomes.filter(({ status }) => status === "held").length;
  const recorded = outcomes.filter(({ status }) => status === "recorded").length;
  const left = outcomes.filter(({ status }) => status === null).length;
  const parts = [
    [outcomes.length - held - recorded - left, "is on its way again", "are on their way again"],
    [held, "is held until a person decides", "are held until a person decides"],
    [recorded, "has no endpoint, so it was only recorded", "have no endpoint, so they were only recorded"],
    [left, "was not sent", "were not sent"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, one, several], n) => `${n === 0 ? counted(count, "event") : count} ${count === 1 ? one : several}.`)
    .join(" ");
};

/** Why some were not replayed; those with the same reason are told together. */
export const faultTexts = (outcomes: readonly Outcome[]): readonly string[] => {
  const left = outcomes.filter(({ status }) => status === null);
  return many(left, ({ fault }) => fault).map(([fault, count]) =>
    count === 1 ? `${left.find((it) => it.fault === fault)?.name}: ${fault}` : `${counted(count, "event")}: ${fault}`,
  );
};
