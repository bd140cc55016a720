import { untilMidnight } from "../../domain/calendar.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { type Problem, problem } from "../streams/problems.ts";
import type { Requester } from "./rate-limit.ts";
import type { Route } from "./route.ts";

/** What the records of a change and a stored answer take besides what stands in the body. */
export const CHANGE_BYTES = 4_096;
/** The body's content stands in the record, in what the approvals of the account are decided on, and in a stored answer. */
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

/** Null if too few bytes of the account's day are left. */
type TakeBytes = (account: string, kind: `${Requester["kind"]}_changes`, bytes: number) => Promise<object | null>;

export type ChangeAllowance = (
  requester: Requester,
  route: Route,
  body: unknown,
) => Promise<"counted" | "beyond" | Problem>;

/**
 * Counts what a change may leave in the log against `change_bytes_day`. "beyond": the call works although the day's bytes
 * are used up, but no answer may be stored for its Idempotency-Key.
 */
export const changeAllowance =
  (take: TakeBytes, clock: Clock): ChangeAllowance =>
  async ({ account, kind }, route, body) => {
    const bytes = CHANGE_BYTES + BODY_COPIES * Buffer.byteLength(JSON.stringify(body ?? null));
    if ((await take(account, `${kind}_changes`, bytes)) !== null) return "counted";
    return isAlways(route, body) ? "beyond" : reached(kind, clock);
  };
