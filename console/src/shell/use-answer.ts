import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { mayRead } from "../api/api.ts";
import type { Answered, Problem } from "../api/calls.ts";
import { keptAnswers } from "../api/kept-answers.ts";
import { namesRead } from "../api/names.ts";
import { connection, onFrame } from "../live/stream.ts";
import { place } from "./router.ts";
import { useRecovery } from "./use-recovery.ts";

export type Shown<T> = {
  readonly body: T | null;
  readonly problem: Problem | null;
  readonly since: string | null;
  readonly again: () => void;
};

const REFRESH_MS = 1_000;
const POLL_MS = 5_000;

type Told = { readonly topic: string /** Null: any of the topic. */; readonly id: string | null };

type Live = {
  /** Names what is read: another one begins anew. */
  readonly key: string;
  /** Frames after which it is read again; null if it does not change while it is open. */
  readonly on: Told | readonly Told[] | null;
  /** Shown again as it was when the reader returns to the page, until it is read; not for what somebody decides by. */
  readonly isKept?: true;
  /** It is read at most this often, however much changes; left out: once a second. */
  readonly everyMs?: number;
};

type Known<T> = Omit<Shown<T>, "again"> & { readonly key: string };

/** What is read where there is nothing to ask for. */
export const NOT_ASKED = { ok: true, body: null } as const;

const NOTHING = { body: null, problem: null, since: null } as const;

/** One thing of the API, read again when the stream says that it changed. What was loaded stays while a read fails. */
export const useAnswer = <T>(
  { key, on, isKept, everyMs = REFRESH_MS }: Live,
  read: () => Promise<Answered<T>>,
): Shown<T> => {
  const name = `${place.peek().path} ${key}`;
  const before = (): Known<T> => (isKept === true ? keptAnswers.of<Known<T>>(name) : null) ?? { ...NOTHING, key };
  const [known, setKnown] = useState<Known<T>>(before);
  const [asked, setAsked] = useState(0);
  // What belongs to another key is not shown, not even until the first answer.
  const { body, problem, since } = known.key === key ? known : before();
  // It is asked for before the page is painted, which takes long on a slow machine.
  useLayoutEffect(() => {
    let isGone = false;
    void Promise.all([read(), namesRead()]).then(([answer]) => {
      if (isGone) return;
      if (answer.ok) {
        const now = { key, body: answer.body, problem: null, since: new Date().toISOString() };
        if (isKept === true) keptAnswers.keep(name, now);
        setKnown(now);
      } else setKnown((shown) => ({ ...(shown.key === key ? shown : before()), problem: answer.problem }));
    });
    return () => {
      isGone = true;
    };
  }, [key, asked]);
  const told = useRef<readonly Told[]>([]);
  told.current = on === null ? [] : "topic" in on ? [on] : on;
  // Before the page is painted as well: from the read on, no change may be missed.
  useLayoutEffect(() => {
    if (on === null) return;
    let isDue = false;
    // What is shown was just read; the first change after it is not kept waiting.
    let at = Date.now() - everyMs;
    const stop = onFrame((frame) => {
      const isMeant = ({ topic, id }: Told): boolean =>
        (frame.topic === null || frame.topic === topic) && (id === null || !("id" in frame) || frame.id === id);
      if (told.current.some(isMeant)) isDue = true;
    });
    const tick = setInterval(() => {
      const { isLive } = connection.value;
      const isPoll = !isLive && Date.now() - at >= POLL_MS;
      const isEarly = Date.now() - at < everyMs;
      if (!mayRead() || isEarly || !(isDue || isPoll)) return;
      isDue = false;
      at = Date.now();
      setAsked((it) => it + 1);
    }, REFRESH_MS);
    return () => {
      stop();
      clearInterval(tick);
    };
  }, [key, on === null]);
  const again = (): void => setAsked((it) => it + 1);
  useRecovery(problem, again);
  return { body, problem, since, again };
};
