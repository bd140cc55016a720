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
export type Query = Readonly<Record<string, string | number | undefined>>;

type Init = Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> };

export type CallsDeps = {
  readonly fetch: typeof fetch;
  /** The member for whom the page was loaded; null before the session is known. */
  readonly member: () => string | null;
  readonly sleep: (ms: number) => Promise<void>;
  /** Called if the session has ended; true if the same member has signed in again, so that the call is repeated. */
  readonly signInAgain: () => Promise<boolean>;
  /** True while a read waits for a view that is behind. */
  readonly onBehind: (isBehind: boolean) => void;
};

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
  try {
    // What the API describes; other members are left alone.
    return { ...plain, ...((await response.json()) as Partial<Problem>) };
  } catch {
    return plain;
  }
};

/** `?a=1&b=2`, without what is undefined or empty; nothing at all if nothing is left. */
export const searchOf = (query: Query): string => {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)] as [string, string]],
  );
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
};

/** The path with its placeholders filled in: `/v1/events/{id}`. */
export const pathOf = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));

/** Reads wait until their view has the position of the member's last change, so that the change is seen at once. */
export class Calls {
  readonly #deps: CallsDeps;
  #position: string | null = null;
  #behind = 0;

  constructor(deps: CallsDeps) {
    this.#deps = deps;
  }

  /** The text of an answer; the caller parses it, because numbers in a payload keep their source text. */
  async read(path: string, query: Query = {}): Promise<Answered<string>> {
    let isWaiting = false;
    try {
      for (let tries = 1; ; tries += 1) {
        const after = this.#position ?? undefined;
        const answer = await this.#asked(path + searchOf({ ...query, after }), { method: "GET" });
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
