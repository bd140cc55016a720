import { setTimeout as pause } from "node:timers/promises";
import { defined } from "../../domain/defined.ts";
import { visibleLine } from "../../domain/visible-text.ts";
import type { EventDetail } from "../bodies/event-answer.ts";
import type { Api } from "./api.ts";
import { Ended, type Terminal } from "./command.ts";
import { json } from "./formats.ts";

export type ReplayOneOptions = {
  readonly reason: string | undefined;
  readonly detach: boolean;
  readonly json: boolean;
};

const POLL_MS = 300;
/** Longer than one attempt may take. A later retry is not waited for. */
const WAIT_MS = 35_000;
/** True while the replay's first attempt is due or running; false once the event waits for a retry or has ended. */
const isMoving = ({ status, attempts }: EventDetail): boolean => {
  const isFirst = (attempts.at(-1)?.next_attempt_at ?? null) === null;
  return status === "queued" || status === "delivering" || (status === "retrying" && isFirst);
};
const WELL: readonly string[] = ["delivered", "recorded", "held", "queued", "delivering"];

const sayingOf = ({ id, status, attempts, approval_id }: EventDetail): string => {
  const last = attempts.at(-1);
  const why =
    last?.failure === null || last === undefined ? "" : `: ${last.failure.kind}: ${visibleLine(last.failure.detail)}`;
  switch (status) {
    case "delivered":
      return `${id} was delivered: attempt ${last?.number} was answered with ${last?.status_code} in ${last?.duration_ms} ms`;
    case "held":
      return `${id} is held until ${approval_id} is approved`;
    case "retrying":
    case "failed":
      return `${id} is ${status}${why}`;
    default:
      return `${id} is ${status}`;
  }
};

/** Waits for the first attempt. Throws `Ended` with exit code 1 if the event was not delivered. */
export const replayOne = async (
  api: Api,
  id: string,
  { reason, detach, json: asJson }: ReplayOneOptions,
  { out, note }: Terminal,
): Promise<void> => {
  const { body, position } = await api.post<{ replay_id: string }>(`/v1/events/${id}/replay`, defined({ reason }));
  if (detach) return out(asJson ? json(body) : `${id} is replayed as ${body.replay_id}`);
  if (!asJson) note(`${id} is replayed as ${body.replay_id}`);
  const end = performance.now() + WAIT_MS;
  const after = position ?? undefined;
  for (;;) {
    const event = await api.get<EventDetail>(`/v1/events/${id}`, { after });
    if (isMoving(event) && performance.now() < end) {
      await pause(POLL_MS);
      continue;
    }
    out(asJson ? json({ ...body, status: event.status, attempt: event.attempts.at(-1) ?? null }) : sayingOf(event));
    if (!WELL.includes(event.status)) throw new Ended(1);
    return;
  }
};
