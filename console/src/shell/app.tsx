import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Layer } from "../../design/layer.tsx";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { ClockContext } from "../../design/text.tsx";
import { WholeLists } from "../../design/virtual-rows.tsx";
import { visibleText } from "../../design/visible-text.ts";
import { call, followAccount, followSession, interruption, type Me, me, signedInAgain } from "../api/api.ts";
import type { Problem } from "../api/calls.ts";
import { useNames } from "../api/names.ts";
import { readPositions } from "../api/page-reads.ts";
import { hasRight } from "../api/roles.ts";
import { connection, followStream, onFrame } from "../live/stream.ts";
import SignIn, { SignInForm } from "../pages/sign-in.tsx";
import { HOME, hrefOf, pageOf, SIGN_IN, safeReturn } from "./addresses.ts";
import { now } from "./clock.ts";
import { crumbName } from "./crumb-name.ts";
import { type Crumb, Frame } from "./frame.tsx";
import { missingAt, waitingForMe, waitingRows } from "./frame-state.ts";
import type { PageProps } from "./page-props.ts";
import { type FoundPage, loadedPage, loadPage, pageAt } from "./pages.ts";
import { readPreferences } from "./preferences.ts";
import { place, scrollTarget } from "./router.ts";

/** The frame does not wait longer for the page's script. */
const SOON_MS = 50;

const NOT_LOADED = {
  title: "The page's script could not be loaded",
  detail: "Without a connection only pages that were open before can be opened. After an update all are loaded anew.",
};

/**
 * Browsers may remember that a script was not there, so it is not asked for again: the address is loaded anew, by itself once
 * a lost connection is back. Of a script that is missing while there is a connection, that would load it without end.
 */
const NoChunk = () => {
  const wasLost = useRef(false);
  const { isLive, nextAt } = connection.value;
  wasLost.current ||= nextAt !== null;
  useEffect(() => {
    if (isLive && wasLost.current) location.reload();
  }, [isLive]);
  return <LoadError what="The page" failure={NOT_LOADED} since={null} onRetry={() => location.reload()} />;
};

const NOTHING_HERE: Pick<FoundPage["row"], "path" | "load"> = {
  path: "",
  load: () => import("../pages/not-found.tsx"),
};

/** The page's component; null until its chunk is loaded: until then the frame stands, and nothing is drawn over what was there. */
const useComponent = ({ path: at, load }: typeof NOTHING_HERE): ComponentType<PageProps> | "failed" | null => {
  const path = pageOf(at);
  const [ended, setEnded] = useState<{ readonly path: string; readonly isFailed: boolean } | null>(null);
  // Before the frame is painted, which takes long on a slow machine.
  useLayoutEffect(() => {
    if (loadedPage(path) !== null) return undefined;
    let isGone = false;
    const end = (isFailed: boolean): void => {
      if (!isGone) setEnded({ path, isFailed });
    };
    void loadPage({ path: at, load }).then(
      () => end(false),
      () => end(true),
    );
    return () => {
      isGone = true;
    };
  }, [path]);
  return loadedPage(path) ?? (ended?.path === path && ended.isFailed ? "failed" : null);
};

/**
 * The page's member has no session any more: what was typed stays, and goes on after the sign-in. If another tab signed in
 * as another member, this one says so, and neither sends in the other's name nor shows the other what stands on it.
 */
const SignInAgain = ({ who }: { readonly who: Me }) => {
  if (interruption.value === null) return null;
  const { by } = interruption.value;
  const { email } = who.member;
  return (
    <Layer label="Sign in again" kind="box" onClose={() => undefined} isFirm isAlone>
      {by === null ? (
        <>
          <h3>Your session has ended</h3>
          <p>Sign in again and what you were doing goes on.</p>
        </>
      ) : (
        <>
          <h3>{by.member.email} is signed in now</h3>
          <p>
            Another member signed in, in this browser. What {email} had open and typed here stays, and nothing of it is
            sent. Sign in as {email} to go on with it.
          </p>
        </>
      )}
      <SignInForm email={email} onSignedIn={signedInAgain} />
      {by === null ? null : (
        <p>
          <button class="btn" type="button" onClick={() => location.reload()}>
            Leave it, and go on as {by.member.email}
          </button>
        </p>
      )}
    </Layer>
  );
};

/** Longer than a page's first reads take on a slow network; the stream does not wait for them any longer. */
const FIRST_READS_MS = 3_000;

/** An account with more waiting shows this number with a plus sign in its list. */
const COUNTED_MAX = 100;
/** The number changes at most this often; without a change it is counted again after a while, as approvals expire. */
const COUNT_MS = 1_000;
const COUNTED_AGAIN_MS = 30_000;

/** Keeps the number of approvals that wait for this member, which the sidebar and the document's title show. */
const useWaitingForMe = (who: Me): void => {
  useEffect(() => {
    if (!hasRight(who.member.role, "approver")) return;
    let isDue = true;
    let at = 0;
    const count = async (): Promise<void> => {
      const answer = await call("GET /v1/approvals", { query: { for: "me", limit: COUNTED_MAX } });
      if (answer.ok) waitingForMe.value = answer.body.data.length;
    };
    const look = (): void => {
      if (interruption.peek() !== null || (!isDue && Date.now() - at < COUNTED_AGAIN_MS)) return;
      isDue = false;
      at = Date.now();
      void count();
    };
    look();
    const stop = onFrame(({ topic }) => {
      if (topic === null || topic === "approvals") isDue = true;
    });
    const timer = setInterval(look, COUNT_MS);
    return () => {
      stop();
      clearInterval(timer);
    };
  }, [who.member.id]);
};

/** The name of the thing that the page shows; null for a list, and before it is known. */
const thingName = (): string | null => (crumbName.value?.path === place.value.path ? crumbName.value.name : null);

const titleOf = (found: FoundPage | null): string => {
  const count = found?.row.section === "approvals" && (waitingForMe.value ?? 0) > 0 ? ` (${waitingForMe.value})` : "";
  const name = thingName();
  return `${name === null ? "" : `${name} · `}${found?.row.title ?? "Not found"}${count} · Countersign`;
};

/** The list and the thing; the list's link returns to the filters with which it was left. */
const crumbsOf = (found: FoundPage | null, who: Me): readonly Crumb[] => {
  const kind = found?.row.title ?? "Not found";
  const title = thingName() ?? kind;
  if (found === null || (found.row.path === `/${found.row.section}` && thingName() === null))
    return [{ title: who.account.name, href: HOME }, { title: kind }];
  const section = `/${found.row.section}`;
  const list = pageAt({ path: section, query: {} });
  return [{ title: list?.row.title ?? section, href: listAddresses.get(section) ?? section }, { title }];
};

/** The address with which each list was last seen. */
const listAddresses = new Map<string, string>();

/** Only what tells a time is drawn anew each second: the page within stays the same node. */
const Clock = ({ zone, children }: { readonly zone: string; readonly children: ComponentChildren }) => (
  <ClockContext.Provider value={{ zone, now: now.value }}>{children}</ClockContext.Provider>
);

const SignedIn = ({ who }: { readonly who: Me }) => {
  const { path, query } = place.value;
  const found = pageAt(place.value);
  const row = missingAt.value === place.value ? NOTHING_HERE : (found?.row ?? NOTHING_HERE);
  const Page = useComponent(row);
  useWaitingForMe(who);
  useNames();
  useEffect(() => {
    followSession();
    followAccount();
    followStream(() => readPositions.lowest(FIRST_READS_MS));
    void readPreferences();
  }, []);
  const title = titleOf(found);
  useEffect(() => {
    document.title = visibleText(title);
  }, [title]);
  useEffect(() => {
    waitingRows.value = "";
  }, [pageOf(row.path)]);
  useEffect(() => {
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [path]);
  // `new` opens a form in place of its list.
  if (found !== null && Object.keys(found.params).length === 0)
    listAddresses.set(path, hrefOf(path, { ...query, new: undefined }));
  const crumbs = crumbsOf(found, who);
  return (
    <Clock zone={who.account.time_zone}>
      <Frame me={who} current={found?.row.section ?? ""} crumbs={crumbs}>
        {Page === null ? <Loading /> : null}
        {Page === "failed" ? <NoChunk /> : null}
        {Page !== null && Page !== "failed" ? (
          <WholeLists.Provider value={scrollTarget.peek() !== null}>
            <Page key={pageOf(row.path)} params={found?.params ?? {}} query={query} />
          </WholeLists.Provider>
        ) : null}
      </Frame>
      <SignInAgain who={who} />
    </Clock>
  );
};

/** Asks who is signed in before it draws a page or the form, so that a reload never shows the form to a member. */
export const App = () => {
  const [problem, setProblem] = useState<Problem | null>(null);
  const ask = async (): Promise<void> => {
    setProblem(null);
    const answer = await call("GET /v1/auth/me");
    if (!answer.ok) return setProblem(answer.problem);
    const found = pageAt(place.value);
    const page = found === null ? null : loadPage(found.row).catch(() => undefined);
    // From the cache it is there at once, and is drawn with the frame; over a network it comes while the frame is drawn.
    await Promise.race([page, new Promise((resolve) => setTimeout(resolve, SOON_MS))]);
    me.value = answer.body;
  };
  // Before anything is painted. The document has asked already (`preload`), and the answer is there or on its way.
  useLayoutEffect(() => void ask(), []);
  const { path, query } = place.value;
  const who = me.value;
  if (who !== null && path === SIGN_IN) {
    location.replace(safeReturn(query.to));
    // The frame would ask for what the next document asks for.
    return null;
  }
  if (who !== null) return <SignedIn who={who} />;
  if (problem?.code === "unauthenticated") {
    const to = path === SIGN_IN ? safeReturn(query.to) : null;
    return <SignIn to={to} />;
  }
  return (
    <div class="app">
      <div class="side" />
      <main class="page">
        {problem === null ? (
          <Loading rows={3} />
        ) : (
          <LoadError what="The console" failure={problem} since={null} onRetry={() => void ask()} />
        )}
      </main>
    </div>
  );
};
