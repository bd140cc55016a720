import { stateOf } from "../../design/states.ts";
import { type Stopped, waitText } from "./endpoint-text.ts";
import { type Gate, gateDetail, gateName } from "./gate-words.ts";

/** Why an event is where it is, in one line. Pure, so that the list, the page and the tests say the same. */

/** The parts of an event of the API that tell why. */
export type Explained = {
  readonly status: string;
  readonly verdict: { readonly gates: readonly Gate[] };
  readonly failure: { readonly kind: string; readonly detail: string } | null;
  /** Left out by an older service. */
  readonly end_reason?: string | null;
  readonly duplicates: number;
  readonly delivery_id_reused: number;
  readonly approval_id?: string | null;
  readonly attempt_count?: number;
  readonly bundle?: { readonly rollback: string | null } | null;
  readonly payload?: { readonly erased_at: string | null };
  /** Only the event itself has them, a row of a list has not. */
  readonly attempts?: readonly { readonly failure: { readonly detail: string } | null }[];
};

/** What an event is called: its provider or sender may have given it no type. */
export const eventTitle = ({ type }: { readonly type: string }): string =>
  type === "" ? "Event without a type" : type;

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The gate that refused it, or that holds it while it is held. */
export const stoppingGate = ({ status, verdict: { gates } }: Explained): Gate | null =>
  gates.find(({ outcome }) => outcome === "deny") ??
  (status === "held" ? (gates.find(({ outcome }) => outcome === "hold") ?? null) : null);

const repeats = ({ duplicates, delivery_id_reused: reused }: Explained): readonly string[] => [
  ...(duplicates > 0
    ? [
        duplicates === 1
          ? "The same delivery arrived again; nothing was sent twice"
          : `${duplicates} repeats; nothing was sent twice`,
      ]
    : []),
  ...(reused > 0 ? [`${reused} refused with the same id and another body`] : []),
];

/** The state of a step, and what became of it, by what the rollback of its bundle made of it. */
const ROLLBACKS: Readonly<Record<string, { readonly state: string; readonly text: string }>> = {
  undone: { state: "compensated", text: "undone with its bundle" },
  undone_by_hand: { state: "compensated", text: "undone by hand" },
  left: { state: "compensation_failed", text: "its bundle could not undo it" },
};

const rollbackOf = ({ bundle }: Pick<Explained, "bundle">) => ROLLBACKS[bundle?.rollback ?? ""];

/** What became of a delivery later, and what it took beyond one attempt. */
const deliveredAfter = (event: Explained): readonly string[] => {
  const { approval_id, attempt_count = 1 } = event;
  const rollback = rollbackOf(event);
  return [
    ...(rollback === undefined ? [] : [rollback.text]),
    ...(approval_id == null ? [] : ["approved by a person"]),
    ...(attempt_count > 1 ? [`attempt ${attempt_count} succeeded`] : []),
  ];
};

const retrying = ({ attempts }: Explained): string => {
  const detail = attempts?.at(-1)?.failure?.detail;
  return `${detail === undefined ? "The last attempt failed" : sentence(detail)}; another attempt follows`;
};

/**
 * The state of an event as a mark and words. The words begin with its status, by which lists are filtered. A step that was
 * undone, or has to be, has the mark of that, as its own delivery alone would be greener than the truth.
 */
export const eventState = (event: Pick<Explained, "status" | "bundle" | "payload">) => {
  const rollback = rollbackOf(event)?.state;
  const erased = event.payload?.erased_at == null ? undefined : "erased";
  const later = [erased, rollback].flatMap((it) => (it === undefined ? [] : [stateOf(it).word.toLowerCase()]));
  const own = event.status === "failed" ? event.status : erased;
  return { value: rollback ?? own ?? event.status, word: [stateOf(event.status).word, ...later].join(", ") };
};

/** As a sentence: words of a person may end with a full stop of their own, also within their quotation marks. */
export const asSentence = (text: string): string => text.replace(/(?<![.!?]”?)$/, ".");

type Known = {
  /** Who rejected it, and why. */
  readonly rejected?: string;
  /** Its endpoint, if nothing is sent there at present. */
  readonly stopped?: Stopped | null;
};

const endedUnsent = ({ end_reason: reason }: Explained): { readonly rejected: string; readonly cancelled: string } => {
  const isKnown = reason !== undefined && reason !== null && reason !== "";
  return {
    rejected: isKnown ? `A person rejected it: “${reason}”` : "A person rejected it",
    cancelled: isKnown ? reason : "It was cancelled before it was sent",
  };
};

/** Empty only for a plain delivery. */
export const whyOf = (event: Explained, { rejected, stopped = null }: Known = {}): string => {
  const gate = stoppingGate(event);
  if (event.failure !== null && event.status !== "delivered") {
    const rollback = rollbackOf(event);
    const failure = event.failure.detail || event.failure.kind;
    return sentence(rollback === undefined ? failure : `${failure}; ${rollback.text}`);
  }
  if (gate !== null)
    return gate.outcome === "hold" ? sentence(gate.detail) : `${gateName(gate.gate)}: ${gateDetail(gate)}`;
  const WORDS: Readonly<Record<string, string>> = {
    recorded: "It has no endpoint, so it was only recorded",
    queued: stopped === null ? "Waiting to be sent" : waitText(stopped),
    rejected: rejected ?? endedUnsent(event).rejected,
    expired: "Nobody decided in time",
    cancelled: endedUnsent(event).cancelled,
    retrying: stopped === null ? retrying(event) : waitText(stopped),
  };
  const word = WORDS[event.status];
  const after = event.status === "delivered" ? deliveredAfter(event) : [];
  return sentence([...(word === undefined ? after : [word]), ...repeats(event)].join("; "));
};
