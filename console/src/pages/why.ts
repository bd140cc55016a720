/** Why an event is where it is, in one line. Pure, so that the list, the page and the tests say the same. */

type Gate = { readonly gate: string; readonly outcome: string; readonly code: string; readonly detail: string };

/** The parts of an event of the API that tell why. */
export type Explained = {
  readonly status: string;
  readonly verdict: { readonly gates: readonly Gate[] };
  readonly failure: { readonly kind: string; readonly detail: string } | null;
  readonly duplicates: number;
  readonly delivery_id_reused: number;
};

/** What an event is called: its provider or sender may have given it no type. */
export const eventTitle = ({ type }: { readonly type: string }): string =>
  type === "" ? "Event without a type" : type;

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const gateWord = (gate: string): string => sentence(gate.replaceAll(/[_-]/g, " "));

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

/** Empty only for a plain delivery. */
export const whyOf = (event: Explained): string => {
  const gate = stoppingGate(event);
  if (event.failure !== null && event.status !== "delivered")
    return sentence(event.failure.detail || event.failure.kind);
  if (gate !== null) return `${gateWord(gate.gate)}: ${gate.detail}`;
  const WORDS: Readonly<Record<string, string>> = {
    recorded: "It has no endpoint, so it was only recorded",
    queued: "Waiting to be sent",
    rejected: "A person rejected it",
    expired: "Nobody decided in time",
    cancelled: "It was cancelled before it was sent",
  };
  const word = WORDS[event.status];
  return [...(word === undefined ? [] : [word]), ...repeats(event)].join("; ");
};
