import type { Position } from "../../domain/ports/event-log.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { subkey } from "../../infra/crypto/subkey.ts";
import { type Call, isProblem, type Principal, type Route } from "../../src/http/route.ts";
import { problemsOf } from "../../src/http/route-problems.ts";
import { validatorCompiler } from "../../src/http/validation.ts";

export const AT = "2026-03-01T12:00:00.000Z";

let calls = 0;

/** A call as the app makes it, with a new command; public unless a principal is given. What is given keeps its type. */
export const callOf = <Given extends Partial<Call>>(given: Given): Call & Given => ({ ...completed(given), ...given });

const completed = ({ principal, envelope, ...over }: Partial<Call>): Call => {
  calls += 1;
  const seed = randomness.bytes(32);
  const who: Principal = principal ?? { kind: "key", account: "", id: "", role: "viewer" };
  return {
    principal: who,
    params: {},
    query: {},
    body: null,
    envelope: envelope ?? {
      commandId: `cmd_${calls}`,
      account: who.account,
      actor: { kind: who.kind, id: who.id },
      trace: { trace_id: "00000000000000000000000000000001", span_id: "0000000000000001" },
      at: AT,
    },
    secret: (purpose) => subkey(seed, purpose),
    ip: "192.0.2.1",
    userAgent: "test",
    headers: {},
    isStillAllowed: async () => true,
    key: null,
    closing: new AbortController().signal,
    ...over,
  };
};

export type Called = {
  /** The status, or the problem's code. */
  readonly outcome: number | string;
  // Bodies are looked into by tests alone, each knowing its route's.
  readonly body: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: string;
  readonly retryAfterS: number | undefined;
  readonly position?: Position | undefined;
};

const validator = validatorCompiler();

/** The query and the body with what the route's schemas fill in, as the app does before its handlers run. */
const withDefaults = (route: Route, { query, body }: Partial<Call>) => {
  const filled = { query: { ...query }, body: body === undefined && route.body !== undefined ? {} : body };
  const properties = { type: "object", properties: route.query ?? {} };
  validator({ schema: properties, method: route.method, url: route.path, httpPart: "querystring" })(filled.query);
  if (route.body !== undefined)
    validator({ schema: { ...route.body }, method: route.method, url: route.path, httpPart: "body" })(filled.body);
  return filled;
};

/** Calls a route of a table as the app would after its checks. */
export const caller =
  (routes: readonly Route[]) =>
  async (method: Route["method"], path: string, over: Partial<Call> = {}): Promise<Called> => {
    const route = routes.find((it) => it.method === method && it.path === path);
    if (route === undefined) throw new Error(`no route ${method} ${path}`);
    const answer = await route.handle(callOf({ ...over, ...withDefaults(route, over) }));
    if (isProblem(answer) && !problemsOf(route).has(answer.problem))
      throw new Error(`${method} ${path} answered ${answer.problem}, which is not among its problems`);
    if (isProblem(answer))
      return {
        outcome: answer.problem,
        body: { ...answer.extra },
        headers: {},
        detail: answer.detail,
        retryAfterS: answer.retryAfterS,
      };
    const body = (answer.body ?? {}) as Record<string, unknown>;
    const { status, headers = {}, position } = answer;
    return { outcome: status, body, headers, detail: "", retryAfterS: undefined, position };
  };
