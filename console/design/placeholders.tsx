import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Note, Time } from "./text.tsx";

type EmptyProps = { readonly title: string; readonly text: ComponentChildren; readonly children?: ComponentChildren };

/** First use: one sentence says what will appear here, and one button begins it. */
export const Empty = ({ title, text, children }: EmptyProps) => (
  <div class="empty">
    <h2>{title}</h2>
    <p class="soft">{text}</p>
    {children === undefined ? null : <div class="row">{children}</div>}
  </div>
);

/** Before this nothing is drawn, because most answers are there by then. */
const QUIET_MS = 150;

/** Lines of the size of the rows to come. */
export const Loading = ({ rows = 6 }: { readonly rows?: number }) => {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" role="status">
      <span class="vh">Loading</span>
      {isLate ? Array.from({ length: rows }, () => <span class="line" />) : null}
    </div>
  );
};

export type Failure = {
  readonly title: string;
  readonly detail: string;
  readonly trace?: string;
  /** 0 if there was no answer. */
  readonly status?: number;
};

/** True while a note above the page says that there is no connection, and from when the page is. */
export const isLossTold = signal(false);

type LoadErrorProps = {
  readonly what: string;
  readonly failure: Failure;
  /** When what is still shown was loaded; null if nothing is. */
  readonly since: string | null;
  readonly onRetry: () => void;
};

export const LoadError = ({ what, failure, since, onRetry }: LoadErrorProps) => {
  if (isLossTold.value && since !== null && failure.status === 0) return null;
  return (
    <Note role="fail" mark="failed" isAlert>
      <p>
        <b>{what} could not be loaded.</b> {failure.detail}
        {since === null ? null : (
          <>
            {" "}
            What you see is from <Time at={since} />.
          </>
        )}
      </p>
      <div class="row">
        <button class="btn" type="button" onClick={onRetry}>
          Try now
        </button>
        {failure.trace === undefined ? null : (
          <span class="meta">
            Trace <code>{failure.trace}</code>
          </span>
        )}
      </div>
    </Note>
  );
};

export const NoRight = ({ children }: { readonly children: ComponentChildren }) => <Note>{children}</Note>;
