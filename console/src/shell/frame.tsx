import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useKeys } from "../../design/keys.ts";
import { Layer } from "../../design/layer.tsx";
import { Icon } from "../../design/mark.tsx";
import { ErrorText } from "../../design/text.tsx";
import { Toast } from "../../design/toast.tsx";
import { announce, call, type Me } from "../api/api.ts";
import { SIGN_IN } from "./addresses.ts";
import { Brand } from "./brand.tsx";
import { isDeciding, waitingForMe } from "./frame-state.ts";
import { Indicator, StaleNote } from "./indicator.tsx";
import { type NavItem, navGroups } from "./pages.ts";
import { JumpPalette } from "./palette.tsx";
import { go } from "./router.ts";

export type Crumb = { readonly title: string; readonly href?: string };

const ON_PHONE = ["overview", "approvals", "events", "audit"];

const initials = (email: string): string =>
  email
    .split("@")[0]
    ?.split(/[._-]/)
    .map((it) => it.charAt(0).toUpperCase())
    .slice(0, 2)
    .join("") ?? "";

const Count = ({ of }: { readonly of: string }) =>
  of === "approvals" && (waitingForMe.value ?? 0) > 0 ? (
    <span class="count">
      {waitingForMe.value}
      <span class="vh"> waiting for you</span>
    </span>
  ) : null;

const NavLink = ({ item: { section, title }, current }: { readonly item: NavItem; readonly current: string }) => (
  <a href={`/${section}`} aria-current={section === current ? "page" : undefined}>
    <Icon name={section} />
    <span>{title}</span>
    <Count of={section} />
  </a>
);

/** Says so if it fails: whoever leaves the browser to others has to know that they are still signed in. */
const SignOut = ({ as }: { readonly as?: string }) => {
  const [fault, setFault] = useState<string | null>(null);
  const signOut = async (): Promise<void> => {
    const answer = await call("POST /v1/auth/logout");
    // A session that has ended already is what was asked for.
    if (!answer.ok && answer.problem.status !== 401) return setFault(answer.problem.detail);
    announce(null);
    location.assign(SIGN_IN);
  };
  return (
    <>
      <button class={as} type="button" onClick={() => void signOut()}>
        Sign out
      </button>
      <ErrorText text={fault === null ? null : `You are still signed in. ${fault}`} />
    </>
  );
};

const Whose = ({ member }: { readonly member: Me["member"] }) => (
  <p>
    <b>{member.email}</b>
    <br />
    <span class="soft role">{member.role}</span>
  </p>
);

const MemberMenu = ({ member, onClose }: { readonly member: Me["member"]; readonly onClose: () => void }) => (
  <Layer label="Your session" kind="sheet" onClose={onClose}>
    <Whose member={member} />
    <ul class="choices">
      <li>
        <SignOut />
      </li>
    </ul>
  </Layer>
);

const Side = ({ me, current }: { readonly me: Me; readonly current: string }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <nav class="side" aria-label="Main">
        <div>
          <Brand />
          <p class="acct">
            <span>
              <b>{me.account.name}</b>
              <span class="quiet">{`${me.account.plan.charAt(0).toUpperCase()}${me.account.plan.slice(1)} plan`}</span>
            </span>
          </p>
        </div>
        <div class="nav">
          {navGroups().map(({ heading, items }) => (
            <div key={heading}>
              {heading === null ? null : <h2>{heading}</h2>}
              <ul>
                {items.map((item) => (
                  <li key={item.section}>
                    <NavLink item={item} current={current} />
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </div>
        <div class="who">
          <button class="me" type="button" onClick={() => setOpen(true)}>
            <span class="ava" aria-hidden="true">
              {initials(me.member.email)}
            </span>
            <span>
              {me.member.email.split("@")[0]}
              <br />
              <span class="quiet role">{me.member.role}</span>
            </span>
          </button>
        </div>
      </nav>
      {/* Not within the sidebar: where that is hidden, an open layer would be hidden, too, and keep all else from being used. */}
      {isOpen ? <MemberMenu member={me.member} onClose={() => setOpen(false)} /> : null}
    </>
  );
};

/** The bar at the bottom of a phone. */
const Foot = ({ me, current }: { readonly me: Me; readonly current: string }) => {
  const [isOpen, setOpen] = useState(false);
  const items = navGroups().flatMap((it) => it.items);
  return (
    <>
      <nav class="foot" aria-label="Quick">
        {items
          .filter(({ section }) => ON_PHONE.includes(section))
          .map((item) => (
            <NavLink key={item.section} item={item} current={current} />
          ))}
        <button type="button" onClick={() => setOpen(true)}>
          <Icon name="menu" />
          More
        </button>
      </nav>
      {isOpen ? (
        <Layer label="More pages" kind="sheet" onClose={() => setOpen(false)}>
          <ul class="sheet-nav">
            {items.map((item) => (
              <li key={item.section} onClickCapture={() => setOpen(false)}>
                <NavLink item={item} current={current} />
              </li>
            ))}
            <li>
              <Whose member={me.member} />
              <SignOut as="btn" />
            </li>
          </ul>
        </Layer>
      ) : null}
    </>
  );
};

const Crumbs = ({ crumbs }: { readonly crumbs: readonly Crumb[] }) => (
  <nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      {crumbs.map(({ title, href }) => (
        <li key={title}>
          {href === undefined ? (
            <span aria-current="page" title={title}>
              {title}
            </span>
          ) : (
            <a href={href}>{title}</a>
          )}
        </li>
      ))}
    </ol>
  </nav>
);

type FrameProps = {
  readonly me: Me;
  readonly current: string;
  readonly crumbs: readonly Crumb[];
  readonly children: ComponentChildren;
};

/** What stands around every page: the sidebar, the bar above, and on a phone the bar below. */
export const Frame = ({ me, current, crumbs, children }: FrameProps) => {
  const items = navGroups().flatMap((it) => it.items);
  useKeys(Object.fromEntries(items.map(({ section, key }) => [`g ${key}`, () => go(`/${section}`)])));
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class={`app ${isDeciding.value ? "deciding" : ""}`}>
        <Side me={me} current={current} />
        <div>
          <header class="bar">
            <Crumbs crumbs={crumbs} />
            <Indicator />
            <JumpPalette />
          </header>
          <main id="main" class="page" tabIndex={-1}>
            <StaleNote />
            {children}
          </main>
        </div>
        <Foot me={me} current={current} />
        <Toast />
      </div>
    </>
  );
};
