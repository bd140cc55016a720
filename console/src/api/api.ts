import { signal } from "@preact/signals";
import type { Api } from "../../../build/page-types/api.ts";
import { heard } from "../live/stream.ts";
import { pathOf, type Query, searchOf } from "./call-address.ts";
import { type Answered, Calls, type Method } from "./calls.ts";
import { earlyReads } from "./early-reads.ts";
import { keptAnswers } from "./kept-answers.ts";

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
/** Answers whether the same member has signed in again; set while the layer for it is open. */
export const signInAgain = signal<((isSame: boolean) => void) | null>(null);

let underWay: Promise<boolean> | null = null;

/** The page of a member who was replaced in this browser is loaded anew, and nothing of it goes on. */
const reloadIfReplaced = async (member: string): Promise<void> => {
  const answer = await fetch("/v1/auth/me").catch(() => null);
  if (!answer?.ok) return;
  const now = (await answer.json()) as Me;
  if (now.member.id === member) return;
  location.reload();
  await new Promise(() => undefined);
};

const askedAgain = async (member: string): Promise<boolean> => {
  await reloadIfReplaced(member);
  return new Promise((resolve) => {
    signInAgain.value = resolve;
  });
};

const calls = new Calls({
  fetch: (input, init) => fetch(input, init),
  heard: () => heard.value,
  early: (address) => earlyReads.take(address),
  member: () => me.value?.member.id ?? null,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  signInAgain: () => {
    // A visitor is sent to the form by the shell.
    if (me.value === null) return Promise.resolve(false);
    underWay ??= askedAgain(me.value.member.id).finally(() => {
      signInAgain.value = null;
      underWay = null;
    });
    return underWay;
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

/** Tells the other tabs who is signed in now: a tab of another member must not go on as this one. */
export const announce = (member: string | null): void => session.postMessage({ member });

/** Loads the page anew if another tab signed in as another member or signed out. */
export const followSession = (): void => {
  session.onmessage = ({ data }: MessageEvent<{ readonly member: string | null }>) => {
    if (me.value !== null && data.member !== me.value.member.id) location.reload();
  };
};
