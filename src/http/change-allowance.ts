import { untilMidnight } from "../../domain/calendar.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { type Problem, problem } from "../streams/problems.ts";
import type { Requester } from "./rate-limit.ts";
import type { Route } from "./route.ts";

/** Bytes that a change and its stored answer take in the log besides the copies of the body's content. */
export const CHANGE_BYTES = 4_096;
/** A body's content is kept in the change's record, in the account's controls stream, and in the stored answer. */
const BODY_COPIES = 3;

const WHOSE: Readonly<Record<Requester["kind"], string>> = {
  session: "people",
  key: "keys",
  agent: "agents",
};

const reached = (kind: Requester["kind"], clock: Clock): Problem =>
  problem(
    "rate-limited",
    `The ${WHOSE[kind]} of this account have changed as much today (UTC) as its plan includes (change_bytes_day). ` +
      "Deleting, suspending, pausing, rejecting and cancelling still work.",
    { retryAfterS: Math.ceil(untilMidnight("UTC", clock.now()) / 1_000) },
  );

const isAlways = ({ method, always }: Route, body: unknown): boolean =>
  method === "DELETE" || always === true || always?.(body) === true;

/** Takes bytes of the account's day; null if too few are left. */
type TakeBytes = (account: string, kind: `${Requester["kind"]}_changes`, bytes: number) => Promise<object | null>;

export type ChangeAllowance = (
  requester: Requester,
  route: Route,
  body: unknown,
) => Promise<"counted" | "beyond" | Problem>;

/**
 * Counts the bytes that a change may leave in the log against `change_bytes_day`. "beyond": the day's bytes are used up
 * and the call works nevertheless, but its answer must not be stored for its Idempotency-Key.
 */
export const changeAllowance =
  (take: TakeBytes, clock: Clock): ChangeAllowance =>
  async ({ account, kind }, route, body) => {
    const bytes = CHANGE_BYTES + BODY_COPIES * Buffer.byteLength(JSON.stringify(body ?? null));
    if ((await take(account, `${kind}_changes`, bytes)) !== null) return "counted";
    return isAlways(route, body) ? "beyond" : reached(kind, clock);
  };
