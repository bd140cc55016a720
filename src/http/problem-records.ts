import type { Actor } from "../../domain/ports/event-log.ts";
import type { CallCounts, RefusedCall } from "../calls/call-counts.ts";
import { clientOf } from "../erasure/personal-data.ts";
import type { Problem } from "../streams/problems.ts";
import type { PresentedCredential } from "./authenticate.ts";
import { isUnsafe } from "./cross-site.ts";
import { presentedCredential } from "./presented-credential.ts";
import { isTargetKnown, whyUnrecorded } from "./recorded-problems.ts";
import type { OnProblem, RefusedRequest } from "./route-problems.ts";
import { traceOf } from "./traceparent.ts";

/** The owner of a credential that is not valid any more, and the reason why it is not. */
export type LapsedCredential = { readonly account: string; readonly actor: Actor; readonly why: string };

export type ProblemRecordsDeps = {
  readonly calls: CallCounts;
  /** Null for a credential that never was valid. */
  readonly lapsedOf: (presented: PresentedCredential) => Promise<LapsedCredential | null>;
  readonly onError: (error: unknown) => void;
};

const PUBLIC: Actor = { kind: "system", id: "public" };
const TARGET = /^[\w.-]{1,64}$/;

type Whose = Pick<RefusedCall, "account" | "actor" | "subject" | "detail" | "holds">;

/** The id of the resource that a call names: the first parameter of its path, or the source for a webhook. */
const targetOf = ({ params }: RefusedRequest): string | null => {
  const named = (params ?? {}) as Readonly<Record<string, string>>;
  const id = named.source_id ?? Object.values(named)[0];
  return id !== undefined && TARGET.test(id) ? id : null;
};

/** Records each refusal of a route with its caller; of equal refusals, only the first is recorded with its client. */
export const problemRecords = ({ calls, lapsedOf, onError }: ProblemRecordsDeps): OnProblem => {
  const whoseWithout = async (request: RefusedRequest, it: Problem): Promise<Whose | null> => {
    const { detail } = it;
    const subject = (await it.about?.()) ?? null;
    if (subject !== null) return { ...subject, actor: PUBLIC, detail, holds: false };
    const presented = presentedCredential(request.raw.rawHeaders);
    const isForeign = it.problem === "cross-site";
    if (!isForeign && it.problem !== "unauthenticated") return null;
    if (typeof presented !== "object" || presented === null || "problem" in presented) return null;
    const owner = await lapsedOf(presented);
    if (owner === null) return null;
    // The call came from another site's page and was refused before its session was checked: the member did not act.
    const by = isForeign ? PUBLIC : owner.actor;
    const why = isForeign ? detail : owner.why;
    return { account: owner.account, actor: by, subject: owner.actor.id, detail: why, holds: false };
  };

  const record = (request: RefusedRequest, { problem }: Problem, route: string, whose: Whose): void => {
    const target = targetOf(request);
    const { ip, headers } = request;
    calls.refused({
      ...whose,
      ...{ problem, route, target },
      client: clientOf({ ip, userAgent: headers["user-agent"] ?? "" }),
      trace: traceOf(request),
    });
  };

  const note = (request: RefusedRequest, it: Problem): void => {
    const { call } = request.routeOptions.config;
    // A refusal with a verdict is recorded in its event's stream already.
    if (call === undefined || it.extra?.verdict !== undefined) return;
    // `about` names an account that the refusal concerns: such a refusal is always recorded, whatever its code is.
    if (it.about === undefined && whyUnrecorded(!isUnsafe(request.method), it.problem) !== null) return;
    const { principal } = request;
    if (principal !== null) {
      const { account, kind, id } = principal;
      const target = isTargetKnown(it.problem) ? targetOf(request) : null;
      record(request, it, call, {
        account,
        actor: { kind, id },
        subject: target ?? id,
        detail: it.detail,
        holds: true,
      });
      return;
    }
    // A call without any credential is not recorded, because every visit of the console begins with one.
    if (it.problem === "unauthenticated" && presentedCredential(request.raw.rawHeaders) === null) return;
    const recorded = whoseWithout(request, it).then((whose) => {
      if (whose === null) calls.stranger(it.problem);
      else record(request, it, call, whose);
    });
    recorded.catch(onError);
  };

  return (request, it) => {
    try {
      note(request, it);
    } catch (error) {
      onError(error);
    }
  };
};
