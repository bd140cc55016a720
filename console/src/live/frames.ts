/** What the stream of changes says (`GET /v1/stream`). Frames carry no payload: what changed is read by the API. */

export type Frame =
  | { readonly topic: string; readonly id: string; readonly status: string; readonly position: string }
  /** More changed than the stream tells one by one; null if it is unknown how much, as after a long gap. */
  | { readonly topic: string; readonly changed: number | null }
  /** Something of any topic may have changed, and nobody has told it. */
  | typeof ANYTHING;

export const ANYTHING = { topic: null, changed: null } as const;

/** Null for what is no frame, as of a newer service. */
export const frameOf = (text: string): Frame | null => {
  let it: unknown;
  try {
    it = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof it !== "object" || it === null || !("topic" in it) || typeof it.topic !== "string") return null;
  const { topic } = it;
  if ("changed" in it && (typeof it.changed === "number" || it.changed === null)) return { topic, changed: it.changed };
  if (!("id" in it) || typeof it.id !== "string") return null;
  const [status, position] = ["status", "position"].map((name) => String(Reflect.get(it, name) ?? ""));
  return { topic, id: it.id, status: status ?? "", position: position ?? "" };
};

export type Connection = {
  readonly isLive: boolean;
  readonly since: number;
  /** What changed before it began may not have been told, so that everything has to be read anew. */
  readonly hasGap: boolean;
  /** When the next attempt begins, in ms since 1970; null while there is a connection, or an attempt is under way. */
  readonly nextAt: number | null;
};

/** What tabs tell each other. */
export type Broadcast =
  | { readonly kind: "frame"; readonly frame: Frame }
  | { readonly kind: "connection"; readonly connection: Connection }
  /** Asked again and again by each tab without the connection. */
  | { readonly kind: "ask" }
  /** A person in another tab does not want to wait for the next attempt. */
  | { readonly kind: "try" };

/** After this time without a connection the indicator says so, by a clock that moves once a second; a shorter gap is no news. */
const STALE_MS = 3_500;
/** After this time a note above the content says the same. */
export const NOTE_MS = 60_000;

export type Indication = "live" | "paused" | "behind" | "lost";

/** The one word of the indicator; being not connected outranks the rest. */
export const indicationOf = (
  { isLive, since }: Pick<Connection, "isLive" | "since">,
  { now, isBehind, hasWaiting }: { readonly now: number; readonly isBehind: boolean; readonly hasWaiting: boolean },
): Indication => {
  if (!isLive && now - since >= STALE_MS) return "lost";
  if (isBehind) return "behind";
  return hasWaiting ? "paused" : "live";
};

/** "The next attempt is in 4 s." */
export const nextAttemptText = ({ nextAt }: Pick<Connection, "nextAt">, now: number): string =>
  nextAt === null || nextAt <= now
    ? "The next attempt is under way."
    : `The next attempt is in ${Math.ceil((nextAt - now) / 1_000)} s.`;
