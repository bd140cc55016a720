import type { EventDocument } from "./event-document.ts";

/** A document keeps the first and the last attempts and stages, so that endless replays or probes do not grow it. */
const FIRST_SHOWN = 10;
const LAST_SHOWN = 100;

type Shortened<T> = { readonly shown: readonly T[]; readonly leftOut: number };

const shortened = <T>(all: readonly T[], leftOut = 0): Shortened<T> => {
  const more = all.length - FIRST_SHOWN - LAST_SHOWN;
  if (more <= 0) return { shown: all, leftOut };
  return { shown: [...all.slice(0, FIRST_SHOWN), ...all.slice(-LAST_SHOWN)], leftOut: leftOut + more };
};

/** A payload that is not stored whole cannot be sent, and a bundle's step is sent again only by its bundle. */
const replayableOf = ({ status, payload, bundle }: EventDocument): Pick<EventDocument, "replayable"> =>
  (status === "failed" || status === "blocked") &&
  payload.erased_at === null &&
  payload.head === undefined &&
  bundle === undefined
    ? { replayable: status }
    : {};

const isWithin = (all: readonly unknown[]): boolean => all.length <= FIRST_SHOWN + LAST_SHOWN;

/** Most documents are in their stored form already, and then are not copied: each record of an event makes one. */
const isStoredForm = (document: EventDocument): boolean =>
  isWithin(document.attempts) &&
  isWithin(document.timeline) &&
  document.replayable === replayableOf(document).replayable;

export const storedForm = (document: EventDocument): EventDocument => {
  if (isStoredForm(document)) return document;
  const { replayable: _, attempts_left_out, stages_left_out, ...rest } = document;
  const attempts = shortened(document.attempts, attempts_left_out);
  const stages = shortened(document.timeline, stages_left_out);
  return {
    ...rest,
    ...replayableOf(document),
    attempts: attempts.shown,
    ...(attempts.leftOut === 0 ? {} : { attempts_left_out: attempts.leftOut }),
    timeline: stages.shown,
    ...(stages.leftOut === 0 ? {} : { stages_left_out: stages.leftOut }),
  };
};
