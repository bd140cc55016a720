import { useEffect, useState } from "preact/hooks";
import type { Answered, Problem } from "../api/calls.ts";
import { connection, onFrame } from "../live/stream.ts";

export type Shown<T> = {
  readonly body: T | null;
  readonly problem: Problem | null;
  readonly since: string | null;
  readonly again: () => void;
};

const REFRESH_MS = 1_000;
const POLL_MS = 5_000;

type Live = {
  /** Names what is read: another one begins anew. */
  readonly key: string;
  /** Frames after which it is read again; null if it does not change while it is open. */
  readonly on: { readonly topic: string; readonly id: string } | null;
};

/** One thing of the API, read again when the stream says that it changed. What was loaded stays while a read fails. */
export const useAnswer = <T>({ key, on }: Live, read: () => Promise<Answered<T>>): Shown<T> => {
  const [shown, setShown] = useState<Omit<Shown<T>, "again">>({ body: null, problem: null, since: null });
  const [asked, setAsked] = useState(0);
  useEffect(() => setShown({ body: null, problem: null, since: null }), [key]);
  useEffect(() => {
    let isGone = false;
    void read().then((answer) => {
      if (isGone) return;
      if (answer.ok) setShown({ body: answer.body, problem: null, since: new Date().toISOString() });
      else setShown((before) => ({ ...before, problem: answer.problem }));
    });
    return () => {
      isGone = true;
    };
  }, [key, asked]);
  useEffect(() => {
    if (on === null) return;
    let isDue = false;
    let at = Date.now();
    const stop = onFrame((frame) => {
      if (frame.topic === on.topic && (!("id" in frame) || frame.id === on.id)) isDue = true;
    });
    const tick = setInterval(() => {
      const isPoll = !connection.value.isLive && Date.now() - at >= POLL_MS;
      if (document.visibilityState !== "visible" || !(isDue || isPoll)) return;
      isDue = false;
      at = Date.now();
      setAsked((it) => it + 1);
    }, REFRESH_MS);
    return () => {
      stop();
      clearInterval(tick);
    };
  }, [key, on === null]);
  return { ...shown, again: () => setAsked((it) => it + 1) };
};
