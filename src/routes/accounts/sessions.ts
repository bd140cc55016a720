import { account } from "../../../domain/account/decider.ts";
import { session } from "../../../domain/account/session.ts";
import type { Commitment } from "../../../domain/evidence/commitment.ts";
import type { Client } from "../../../domain/personal/events.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { type SessionDocument, sessions as sessionsView } from "../../../projections/sessions.ts";
import { accountStream } from "../../accounts/accounts.ts";
import { SESSION_LIFETIME_S, type Sessions, sessionIdOf, streamOfSession } from "../../accounts/sessions.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { VIEW_WAIT_MS } from "../../http/limits.ts";
import { isPage, LISTING_QUERY, listOf, pageOf } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import { type Handler, type JsonSchema, positionOf, type Route, route } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { notFound, problem } from "../../streams/problems.ts";
import type { ViewProgress } from "../../views/view-progress.ts";
import { accountProblem } from "./account-problems.ts";

export type SessionRoutesDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly sessions: Sessions;
  readonly personal: Pick<PersonalData, "read">;
  readonly views: Pick<ViewStore, "page">;
  readonly log: Pick<EventLog, "last">;
  readonly progress: Pick<ViewProgress, "waitFor">;
  readonly clock: Clock;
};

const TIME: JsonSchema = { type: "string", format: "date-time" };
const SESSION: JsonSchema = named("Session", {
  type: "object",
  required: ["id", "created_at", "expires_at", "current", "made_by", "ip", "user_agent"],
  properties: {
    id: { type: "string" },
    created_at: TIME,
    expires_at: TIME,
    current: { type: "boolean", description: "Whether it is the one of this call" },
    made_by: { enum: ["browser", "command-line"] },
    ip: { type: ["string", "null"], description: "Where it was opened from; null when that was erased" },
    user_agent: { type: ["string", "null"] },
  },
});

const BEHIND = problem("view-behind", "The list does not show your last change yet.", { retryAfterS: 1 });

const endOf = async (log: Pick<EventLog, "last">, streams: readonly string[]): Promise<Position> => {
  const ends = await Promise.all(streams.map((stream) => log.last(stream)));
  return ends.reduce<Position>((end, last) => (last !== null && last.position > end ? last.position : end), "");
};

/** Null for a session that has ended. */
const openSession = async (aggregates: Pick<Aggregates, "load">, id: string) => {
  const stream = streamOfSession(id);
  const state = stream === null ? null : (await aggregates.load(session, stream, 0)).state;
  return state?.phase === "open" ? state : null;
};

const list =
  ({ aggregates, personal, views, log, progress, clock }: SessionRoutesDeps): Handler =>
  async ({ principal, query }) => {
    if (principal.kind !== "member") return notFound();
    const shownClient = async (commitment: Commitment, owner: string) => {
      // The commitment of a session is always one to a `Client`, on which the cast relies.
      const client = (await personal.read(commitment, owner)) as Client | null;
      return { ip: client?.ip ?? null, user_agent: client?.user_agent ?? null };
    };
    const { state } = await aggregates.load(account, accountStream(principal.account));
    const member = state.phase === "open" ? state.members.get(principal.id) : undefined;
    if (member === undefined) return notFound();
    // The epoch comes from the account's stream: a view that has only sessions of an older epoch would list none.
    const end = await endOf(log, [accountStream(principal.account), principal.session]);
    if (!(await progress.waitFor([sessionsView.schema.name], end, VIEW_WAIT_MS))) return BEHIND;
    const where = [
      { field: "account", is: "=", value: principal.account },
      { field: "member", is: "=", value: principal.id },
      { field: "epoch", is: "=", value: member.epoch },
      { field: "created_at", is: ">", value: new Date(clock.now() - SESSION_LIFETIME_S * 1_000).toISOString() },
    ] as const;
    const listing = { view: sessionsView.schema.name, where, sort: { field: "created_at", order: "desc" } } as const;
    const current = sessionIdOf(principal.session);
    const page = await pageOf(views, listing, query, (document: SessionDocument, id) => {
      const { created_at, expires_at, client } = document;
      return { id, created_at, expires_at, current: id === current, client };
    });
    if (!isPage(page)) return page;
    const shown = await Promise.all(
      page.data.map(async ({ client, ...it }) => {
        // The view may still show a session that has ended, so each one's stream is asked.
        const open = await openSession(aggregates, it.id);
        if (open === null) return [];
        return [{ ...it, made_by: open.madeBy, ...(await shownClient(client, principal.account)) }];
      }),
    );
    return { status: 200, body: { ...page, data: shown.flat() } };
  };

const end =
  ({ aggregates, sessions }: SessionRoutesDeps): Handler<{ params: "id" }> =>
  async ({ principal, params: { id }, envelope }) => {
    const stream = streamOfSession(id);
    if (stream === null) return notFound();
    const { state } = await aggregates.load(session, stream, 0);
    const isOwn = state.phase === "open" && state.account === principal.account && state.member === principal.id;
    if (!isOwn) return notFound();
    return { status: 204, ...positionOf({ position: await sessions.close(stream, envelope) }) };
  };

const endOthers =
  ({ aggregates }: SessionRoutesDeps): Handler =>
  async ({ principal, envelope }) => {
    if (principal.kind !== "member") return notFound();
    const keeps = sessionIdOf(principal.session);
    const command = { type: "EndSessions", member: principal.id, keeps, at: envelope.at } as const;
    const ended = await aggregates.handle(account, accountStream(principal.account), command, envelope);
    return ended.outcome === "rejected" ? accountProblem(ended.rejection) : { status: 204, ...positionOf(ended) };
  };

export const sessionRoutes = (deps: SessionRoutesDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/auth/sessions",
    who: { session: "viewer" },
    summary: "List your sessions, newest first",
    tag: "accounts",
    query: LISTING_QUERY,
    problems: ["not-found"],
    answers: { 200: listOf(SESSION) },
    reads: [sessionsView.schema.name],
    handle: list(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/auth/sessions/{id}",
    who: { session: "viewer" },
    summary: "End one of your sessions on every node",
    tag: "accounts",
    answers: { 204: null },
    handle: end(deps),
  }),
  route({
    method: "DELETE",
    path: "/v1/auth/sessions",
    who: { session: "viewer" },
    summary: "End all of your sessions but this one",
    tag: "accounts",
    problems: ["not-found"],
    answers: { 204: null },
    handle: endOthers(deps),
  }),
];
