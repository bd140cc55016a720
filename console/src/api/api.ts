import { signal } from "@preact/signals";
import type { Api } from "../../../build/page-types/api.ts";
import { heard, onFrame, tryNow } from "../live/stream.ts";
import { pathOf, type Query, searchOf } from "./call-address.ts";
import { type Answered, Calls, type Method } from "./calls.ts";
import { keptAnswers } from "./kept-answers.ts";
import { earlyReads, readPositions } from "./page-reads.ts";
import { readOrder } from "./read-order.ts";

export type CallName = keyof Api & `${Method} /v1/${string}`;
export type AnswerOf<Name extends CallName> = Api[Name]["answer"];

type Given<Name extends CallName> = {
  readonly params?: Api[Name]["params"];
  readonly query?: Api[Name]["query"];
  readonly body?: Api[Name]["body"];
};

export type Me = AnswerOf<"GET /v1/auth/me">;

/** Null before the session is known, and for a visitor. */
export const me = signal<Me | null>(null);
/** True while a read waits for a view that is behind. */
export const isBehind = signal(false);
/** Set while this page's member has no session in this browser; `by` is who has one instead, null if nobody has. */
export const interruption = signal<{ readonly by: Me | null } | null>(null);

/** False while nobody would see what is read, or the service would refuse it. */
export const mayRead = (): boolean => document.visibilityState === "visible" && interruption.peek() === null;

let waiting: { readonly isBack: Promise<void>; readonly goOn: () => void } | null = null;

/** The same member is signed in again: what waited is sent, and the stream is theirs again. */
const goOn = (): void => {
  const before = waiting;
  waiting = null;
  interruption.value = null;
  if (before === null) return;
  tryNow();
  before.goOn();
};

let looks = 0;

/** Over once the page's member has a session again. Nothing of the page is lost, and nothing is sent in another's name. */
const interrupted = async (member: string): Promise<void> => {
  if (waiting === null) {
    let end = (): void => undefined;
    const isBack = new Promise<void>((resolve) => {
      end = resolve;
    });
    waiting = { isBack, goOn: end };
  }
  const { isBack } = waiting;
  looks += 1;
  const nth = looks;
  const answer = await fetch("/v1/auth/me").catch(() => null);
  const by = answer?.ok ? ((await answer.json()) as Me) : null;
  // Of two tabs that told one after the other, the later is right.
  if (nth === looks) sessionIsOf(member, by);
  return isBack;
};

/** What this page learned of the browser's session. */
const sessionIsOf = (member: string, by: Me | null): void => {
  if (by?.member.id === member) goOn();
  else interruption.value = { by };
};

/** Called with who has just signed in on this page, over what was open. */
export const signedInAgain = (by: Me): void => {
  looks += 1;
  if (me.value !== null) sessionIsOf(me.value.member.id, by);
};

onFrame(() => earlyReads.forget());

const calls = new Calls({
  fetch: readPositions.fetch,
  heard,
  early: (address) => earlyReads.take(address),
  member: () => me.value?.member.id ?? null,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  signInAgain: async () => {
    // A visitor is sent to the form by the shell.
    if (me.value === null) return false;
    await interrupted(me.value.member.id);
    return true;
  },
  onBehind: (it) => {
    isBehind.value = it;
  },
});

/** The answer as text, in which numbers have the digits that were sent. */
export const callText = async <Name extends CallName>(
  name: Name,
  { params, query, body }: Given<Name> = {},
): Promise<Answered<string>> => {
  const [method, path] = name.split(" ") as [Method, string];
  // The description of the API says that they are texts and numbers.
  const address = pathOf(path, (params ?? {}) as Readonly<Record<string, string>>);
  const asked = (query ?? {}) as Query;
  if (method === "GET") return calls.read(address, asked);
  keptAnswers.clear();
  return calls.send(method, address + searchOf(asked), body ?? undefined).finally(() => keptAnswers.clear());
};

/** Calls the API: `call("GET /v1/events/{id}", { params: { id } })`. The types are those of its OpenAPI document. */
export const call = async <Name extends CallName>(
  name: Name,
  given: Given<Name> = {},
): Promise<Answered<AnswerOf<Name>>> => {
  const answer = await callText(name, given);
  if (!answer.ok) return answer;
  // The service checks in its tests that its answers are what its description says.
  return { ok: true, body: (answer.body === "" ? null : JSON.parse(answer.body)) as AnswerOf<Name> };
};

/** One channel to say and to hear, because a channel does not hear itself: only the other tabs are told. */
const session = new BroadcastChannel("countersign-session");

type Said = { readonly member: string | null };

/** Tells the other tabs who is signed in now: a tab of another member must not go on as this one. */
export const announce = (member: string | null): void => session.postMessage({ member } satisfies Said);

/** The page writes the account's name, and times in its zone. */
export const accountChanged = (account: Me["account"]): void => {
  const who = me.value;
  if (who?.account.id !== account.id) return;
  // Most records of an account change nothing of this, and then nothing is drawn anew.
  if (JSON.stringify(who.account) !== JSON.stringify(account)) me.value = { ...who, account };
};

/** Reads the account again when a member changed it, in this browser or another. */
export const followAccount = (): void => {
  const order = readOrder();
  onFrame(({ topic }) => {
    if (topic !== null && topic !== "account") return;
    const nth = order.ask();
    void call("GET /v1/auth/me").then(
      (answer) => answer.ok && !order.isOvertaken(nth) && accountChanged(answer.body.account),
    );
  });
};

/** Hears when another tab signs in or out. The page of another member stays as it is and says so; nothing is sent from it. */
export const followSession = (): void => {
  session.onmessage = ({ data }: MessageEvent<Said>) => {
    const member = me.value?.member.id;
    if (member === undefined || (data.member === member && waiting === null)) return;
    // The stream of all tabs is that of whoever is signed in now.
    tryNow();
    void interrupted(member);
  };
};
