import { useEffect, useRef } from "preact/hooks";
import { mayRead } from "../api/api.ts";
import type { Problem } from "../api/calls.ts";

/** What could not be read is tried again this often. */
const RETRY_MS = 5_000;
const SERVER_ERROR = 500;

/** Reads again what the network or the service kept back: at once when the network returns, and every few seconds until then. */
export const useRecovery = (problem: Problem | null, again: () => void): void => {
  const latest = useRef(again);
  latest.current = again;
  const mayPass = problem !== null && (problem.status === 0 || problem.status >= SERVER_ERROR);
  useEffect(() => {
    if (!mayPass) return;
    const retry = (): void => {
      if (mayRead()) latest.current();
    };
    addEventListener("online", retry);
    const timer = setInterval(retry, RETRY_MS);
    return () => {
      removeEventListener("online", retry);
      clearInterval(timer);
    };
  }, [mayPass]);
};
