import { type ComponentChildren, createContext } from "preact";
import { useContext, useId } from "preact/hooks";
import { type Clock, exactClock, exactTime, preciseTime, shortId, shortTime } from "./format.ts";
import { Icon, Mark } from "./mark.tsx";
import type { Role } from "./states.ts";

/** The zone of the account and the present, by which times are written. */
export const ClockContext = createContext<Clock>({ zone: "UTC", now: 0 });

const WRITTEN = { short: shortTime, precise: preciseTime, exact: exactTime, clock: exactClock };

/** A time in the account's zone; the title and the print style give ISO 8601 in UTC. */
export const Time = ({ at, as = "short" }: { readonly at: string; readonly as?: keyof typeof WRITTEN }) => {
  const clock = useContext(ClockContext);
  return (
    <time dateTime={at} title={at}>
      {WRITTEN[as](at, clock)}
    </time>
  );
};

/** A page names the zone of its times once. */
export const Zone = () => <span>Times in {useContext(ClockContext).zone}</span>;

export const copy = (text: string): void => {
  // Without the right to write, the text can still be selected by hand.
  navigator.clipboard?.writeText(text).catch(() => undefined);
};

/** An id in short; a click copies all of it. */
export const Id = ({ id }: { readonly id: string }) => (
  <button class="id" type="button" title={id} onClick={() => copy(id)}>
    {shortId(id)}
    <span class="vh"> copy {id}</span>
    <Icon name="copy" />
  </button>
);

/** A value with a button that copies it. */
export const Copied = ({ value, label = "Copy" }: { readonly value: string; readonly label?: string }) => (
  <div class="copy">
    <code>{value}</code>
    <button type="button" onClick={() => copy(value)}>
      <Icon name="copy" small />
      {label}
    </button>
  </div>
);

type SectionProps = {
  readonly title: ComponentChildren;
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** A part of a page with a heading over a rule; `beside` stands at the heading's right. */
export const Section = ({ title, beside, children }: SectionProps) => {
  const id = useId();
  return (
    <section class="sect" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {beside}
      </header>
      {children}
    </section>
  );
};

/** What went wrong with what was pressed or typed, beside it; nothing if it is null. */
export const ErrorText = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <p class="err" role="alert">
      {text}
    </p>
  );

type HeadProps = {
  readonly title: ComponentChildren;
  readonly meta?: ComponentChildren;
  readonly acts?: ComponentChildren;
};

/** The head of a page: its title, what is said of it, and what can be done. A double rule closes it. */
export const Head = ({ title, meta, acts }: HeadProps) => (
  <div class="head">
    <h1>{title}</h1>
    {meta === undefined ? null : <p class="meta">{meta}</p>}
    {acts === undefined ? null : <div class="acts row">{acts}</div>}
  </div>
);

/** Names and values; a row with an empty value is left out. */
export const Facts = ({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {rows
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
  </dl>
);

type NoteProps = {
  readonly role?: Role;
  readonly mark?: string;
  readonly icon?: string;
  readonly isAlert?: boolean;
  readonly children: ComponentChildren;
};

export const Note = ({ role, mark = "info", icon, isAlert = false, children }: NoteProps) => (
  <div class={`note ${role ?? ""}`} role={isAlert ? "alert" : undefined}>
    {icon === undefined ? <Mark name={mark} role={role ?? "mute"} /> : <Icon name={icon} />}
    <div>{children}</div>
  </div>
);

/**
 * Long names break after dots, slashes and underscores. Assistive technology would read each place to break as a space. A
 * name that is written from right to left reorders nothing around it.
 */
export const Breaking = ({ text }: { readonly text: string }) => (
  <bdi>
    {text.split(/(?<=[./_])/).map((part, at) => (
      <>
        {at === 0 ? null : <wbr aria-hidden="true" />}
        {part}
      </>
    ))}
  </bdi>
);
