import { duration } from "../../design/format.ts";
import { type Query, readKey, searchOf } from "./call-address.ts";

/** Calls of the API. The browser adds the session's cookie and says by itself which page the call comes from. */

/** A problem (RFC 9457) that the service answered with; `status` is 0 if there was no answer. */
export type Problem = {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly trace_id?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
};

export type Answered<T> = { readonly ok: true; readonly body: T } | { readonly ok: false; readonly problem: Problem };
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Init = Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> };

export type CallsDeps = {
  readonly fetch: typeof fetch;
  /** What was asked before the page's scripts were there; null for what was not. */
  readonly early: (address: string) => Promise<Response> | null;
  /** Grows with each change that the page hears of: an answer that was asked for before may not show it. */
  readonly heard: () => number;
  /** The member for whom the page was loaded; null before the session is known. */
  readonly member: () => string | null;
  readonly sleep: (ms: number) => Promise<void>;
  /** Called if the session has ended; true if the same member has signed in again, so that the call is repeated. */
  readonly signInAgain: () => Promise<boolean>;
  /** True while a read waits for a view that is behind. */
  readonly onBehind: (isBehind: boolean) => void;
};

const RATE_LIMITED = 429;
const POSITION = "countersign-position";
/** With it the service refuses a call if another member has signed in since in the same browser. */
const MEMBER = "countersign-member";
/** A read of a view that is behind is tried this often; at each try the service itself waits up to 2 s. */
const VIEW_TRIES = 5;
const BEHIND_MS = 500;

const UNREACHABLE: Problem = {
  status: 0,
  code: "unreachable",
  title: "Not connected",
  detail: "The service cannot be reached at the moment.",
};

const problemOf = async (response: Response): Promise<Problem> => {
  const { status } = response;
  const plain = { status, code: "unknown", title: "Not answered", detail: `The service answered ${status}.` };
  // What the API describes; other members are left alone.
  const sent = (await response.json().catch(() => ({}))) as Partial<Problem>;
  const problem = { ...plain, ...sent };
  const waitS = Number(response.headers.get("retry-after"));
  if (status !== RATE_LIMITED || !(waitS > 0)) return problem;
  return { ...problem, detail: `${problem.detail} Try again in ${duration(waitS * 1_000)}.` };
};

/** Reads wait until their view has the position of the member's last change, so that the change is seen at once. */
export class Calls {
  readonly #deps: CallsDeps;
  #position: string | null = null;
  #behind = 0;
  /** Reads under way, by what was known when they began: who asks the same meanwhile gets the same answer. */
  readonly #underWay = new Map<string, Promise<Answered<string>>>();

  constructor(deps: CallsDeps) {
    this.#deps = deps;
  }

  /** The text of an answer; the caller parses it, because numbers in a payload keep their source text. */
  read(path: string, query: Query = {}): Promise<Answered<string>> {
    const address = path + searchOf(query);
    const key = `${this.#position} ${this.#deps.heard()} ${readKey(address)}`;
    const before = this.#underWay.get(key);
    if (before !== undefined) return before;
    const answer = this.#read(path, query).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, answer);
    return answer;
  }

  async #read(path: string, query: Query): Promise<Answered<string>> {
    let isWaiting = false;
    try {
      for (let tries = 1; ; tries += 1) {
        const after = this.#position ?? undefined;
        const early = tries === 1 && after === undefined ? await this.#early(path + searchOf(query)) : null;
        const answer = early ?? (await this.#asked(path + searchOf({ ...query, after }), { method: "GET" }));
        if (answer instanceof Response) return { ok: true, body: await answer.text() };
        // The log may have been moved since the last change, and the service refuses positions of the log before.
        if (answer.code === "invalid-request" && after !== undefined) this.#position = null;
        else if (answer.code !== "view-behind" || tries >= VIEW_TRIES) return { ok: false, problem: answer };
        else {
          if (!isWaiting) this.#wait(1);
          isWaiting = true;
          await this.#deps.sleep(BEHIND_MS);
        }
      }
    } finally {
      if (isWaiting) this.#wait(-1);
    }
  }

  async send(method: Method, path: string, body?: unknown): Promise<Answered<string>> {
    const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const answer = await this.#asked(path, { method, ...(body === undefined ? {} : json) });
    return answer instanceof Response ? { ok: true, body: await answer.text() } : { ok: false, problem: answer };
  }

  /** What was asked early, if it was answered to the member for whom this page is; null if it has to be asked again. */
  async #early(address: string): Promise<Response | null> {
    const member = this.#deps.member();
    try {
      const response = (await this.#deps.early(address)) ?? null;
      const isOurs = member === null || response?.headers.get(MEMBER) === member;
      return response?.ok && isOurs ? response : null;
    } catch {
      return null;
    }
  }

  #wait(by: 1 | -1): void {
    this.#behind += by;
    this.#deps.onBehind(this.#behind > 0);
  }

  async #asked(path: string, init: Init): Promise<Response | Problem> {
    for (let isAgain = false; ; isAgain = true) {
      const member = this.#deps.member();
      const headers = { ...init.headers, ...(member === null ? {} : { [MEMBER]: member }) };
      let response: Response;
      try {
        response = await this.#deps.fetch(path, { credentials: "same-origin", redirect: "error", ...init, headers });
      } catch {
        return UNREACHABLE;
      }
      this.#position = response.headers.get(POSITION) ?? this.#position;
      if (response.ok) return response;
      const problem = await problemOf(response);
      const hasEnded = problem.code === "unauthenticated" && !isAgain;
      if (!hasEnded || !(await this.#deps.signInAgain())) return problem;
    }
  }
}
