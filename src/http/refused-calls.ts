import type { CallsEvent } from "../../domain/calls/events.ts";
import type { Client } from "../../domain/personal/events.ts";
import type { Actor } from "../../domain/ports.ts";
import { NO_TRACE, type Trace } from "../envelope.ts";
import type { ProblemCode } from "../problems.ts";
import { COUNTS_ACTOR, type Sample, type Tallies, type Tally } from "../tallies.ts";

export type RefusedCall = {
  readonly account: string;
  readonly actor: Actor;
  readonly problem: ProblemCode;
  readonly detail: string;
  /** Method and path as the route table has it. */
  readonly route: string;
  /** What the refusal is about: an id that is known to be the account's. */
  readonly subject: string;
  readonly target: string | null;
  readonly client: Client;
  readonly trace: Trace;
};

/** Records refused calls, counted by minute. Never throws and waits for nothing: it is called in the path of answers. */
export type RefusedCalls = {
  refused(call: RefusedCall): void;
  /** A call of which nobody can tell whose account it means. */
  stranger(problem: ProblemCode): void;
};

/** A kind of refusal is a record of its own. Of one account so many a minute are, so that nobody can fill the log. */
const KINDS_A_MINUTE_MAX = 10;
const DETAIL_LENGTH_MAX = 200;
const INSTALLATION = "calls-installation";

export const callsStream = (subject: string): string => `calls-${subject}`;

type Counter = Tally & { add(): void };

const counterOf = (
  about: Pick<Tally, "account" | "stream" | "actor" | "trace">,
  samples: readonly Sample[],
  eventOf: (count: number, at: string) => CallsEvent,
): Counter => {
  let count = 0;
  return {
    ...about,
    isOfMinute: true,
    add() {
      count += 1;
    },
    take(at) {
      const taken = count;
      count = 0;
      return taken === 0 ? null : { samples, facts: () => [eventOf(taken, at)] };
    },
  };
};

const kindOf = (call: RefusedCall, minute: string): Counter => {
  const { account, actor, trace, problem, route, target, client, subject } = call;
  const sample: Sample = { client, commitment: null };
  const detail = call.detail.slice(0, DETAIL_LENGTH_MAX);
  return counterOf({ account, actor, trace, stream: callsStream(subject) }, [sample], (count, at) => ({
    type: "CallsRefused",
    data: { problem, detail, route, target, minute, count, client: sample.commitment, at },
  }));
};

const othersOf = (account: string, minute: string): Counter =>
  counterOf({ account, actor: COUNTS_ACTOR, trace: NO_TRACE, stream: callsStream(account) }, [], (count, at) => ({
    type: "MoreCallsRefused",
    data: { minute, count, at },
  }));

type Strangers = Tally & { add(problem: ProblemCode): void };

const strangersOf = (minute: string): Strangers => {
  let counts: Partial<Record<ProblemCode, number>> = {};
  return {
    account: "",
    stream: INSTALLATION,
    actor: COUNTS_ACTOR,
    trace: NO_TRACE,
    isOfMinute: true,
    add(problem) {
      counts[problem] = (counts[problem] ?? 0) + 1;
    },
    take(at) {
      const taken = counts;
      counts = {};
      if (Object.keys(taken).length === 0) return null;
      const event: CallsEvent = { type: "StrangersRefused", data: { minute, counts: taken, at } };
      return { samples: [], facts: () => [event] };
    },
  };
};

/** The kinds of refusals of one account in one minute. */
type Kinds = Tally & { readonly names: Set<string> };

const kindsOf = (account: string): Kinds => ({
  account,
  stream: callsStream(account),
  actor: COUNTS_ACTOR,
  trace: NO_TRACE,
  isOfMinute: true,
  names: new Set(),
  // It is kept for its minute, and never written.
  take: () => null,
});

export const refusedCalls = (
  tallies: Pick<Tallies, "of">,
  onRefused: (problem: ProblemCode, whose: "account" | "nobody") => void = () => undefined,
): RefusedCalls => {
  const isWithin = (account: string, name: string): boolean => {
    const names = tallies.of(`kinds ${account}`, () => kindsOf(account))?.names;
    if (names === undefined) return false;
    if (!names.has(name) && names.size >= KINDS_A_MINUTE_MAX) return false;
    names.add(name);
    return true;
  };

  return {
    refused(call) {
      const { account, actor, problem, route, subject, target } = call;
      onRefused(problem, "account");
      const name = JSON.stringify([account, actor.kind, actor.id, problem, route, subject, target]);
      const counter = isWithin(account, name)
        ? tallies.of(`refused ${name}`, (minute) => kindOf(call, minute))
        : tallies.of(`refused others ${account}`, (minute) => othersOf(account, minute));
      counter?.add();
    },
    stranger(problem) {
      onRefused(problem, "nobody");
      tallies.of("strangers", strangersOf)?.add(problem);
    },
  };
};
