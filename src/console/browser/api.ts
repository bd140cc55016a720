import { searchOf } from "./place.ts";

/** A problem (RFC 9457) that the service answered with; `status` is 0 if there was no answer. */
export type Problem = { readonly status: number; readonly code: string; readonly detail: string };

export type Answered<T> = { readonly ok: true; readonly body: T } | { readonly ok: false; readonly problem: Problem };

export type Api = {
  get<T>(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<Answered<T>>;
  text(path: string): Promise<Answered<string>>;
  send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<Answered<T>>;
};

/** A read is tried this often while its view is behind. At each try the service waits up to 2 s for the view. */
const VIEW_TRIES = 3;
const POSITION = "countersign-position";

const problemOf = async (response: Response): Promise<Problem> => {
  const { status } = response;
  try {
    const { code, detail } = (await response.json()) as Partial<Problem>;
    return { status, code: code ?? "unknown", detail: detail ?? response.statusText };
  } catch {
    return { status, code: "unknown", detail: `The service answered with the status ${status}.` };
  }
};

/** Reads wait until their view has the position of the user's last change, so the user sees the change at once. */
export const api = (fetch: typeof globalThis.fetch): Api => {
  let position: string | null = null;

  const asked = async (path: string, init: RequestInit): Promise<Response | Problem> => {
    try {
      const response = await fetch(path, { credentials: "same-origin", redirect: "error", ...init });
      position = response.headers.get(POSITION) ?? position;
      return response.ok ? response : await problemOf(response);
    } catch {
      return { status: 0, code: "unreachable", detail: "The service cannot be reached at the moment." };
    }
  };

  const read = async (
    path: string,
    query: Readonly<Record<string, string | undefined>>,
  ): Promise<Response | Problem> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await asked(`${path}${searchOf({ ...query, after: position ?? query.after })}`, {});
      if (!("code" in answer)) return answer;
      // The log may have been moved since the last change, and the service refuses positions of the earlier log.
      if (answer.code === "invalid-request" && position !== null) position = null;
      else if (answer.code !== "view-behind" || tries >= VIEW_TRIES) return answer;
    }
  };

  const bodyOf = async <T>(answer: Response | Problem): Promise<Answered<T>> => {
    if ("code" in answer) return { ok: false, problem: answer };
    const text = await answer.text();
    return { ok: true, body: (text === "" ? null : JSON.parse(text)) as T };
  };

  return {
    get: async (path, query = {}) => bodyOf(await read(path, query)),
    async text(path) {
      const answer = await read(path, {});
      return "code" in answer ? { ok: false, problem: answer } : { ok: true, body: await answer.text() };
    },
    async send(method, path, body) {
      if (body === undefined) return bodyOf(await asked(path, { method }));
      const headers = { "content-type": "application/json" };
      return bodyOf(await asked(path, { method, headers, body: JSON.stringify(body) }));
    },
  };
};
