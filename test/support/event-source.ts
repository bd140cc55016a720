import { once } from "node:events";
import { get, type IncomingHttpHeaders } from "node:http";

type ServerSent = { readonly id: string; readonly event: string; readonly data: string };

/** A client of server-sent events (WHATWG HTML, section 9.2) that can be looked into, and that can stop reading. */
export type TestEventSource = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: readonly ServerSent[];
  /** Of the blocks so far, also of one without data: what a client resumes with. */
  lastId(): string;
  /** The comments so far. */
  comments(): number;
  /** Everything, for an answer that is no stream of events. */
  text(): string;
  isEnded(): boolean;
  pause(): void;
  resume(): void;
  close(): void;
};

export const eventSource = async (url: string, headers: Record<string, string>): Promise<TestEventSource> => {
  const request = get(url, { headers, agent: false });
  const [response] = await once(request, "response");
  request.on("error", () => undefined);
  const events: ServerSent[] = [];
  let rest = "";
  let text = "";
  let lastId = "";
  let comments = 0;
  let isEnded = false;

  const block = (lines: readonly string[]): void => {
    const fields = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(":");
      if (colon === 0) comments += 1;
      else fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
    }
    lastId = fields.get("id") ?? lastId;
    const data = fields.get("data");
    if (data !== undefined) events.push({ id: lastId, event: fields.get("event") ?? "message", data });
  };

  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    text += chunk;
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const it of blocks) block(it.split("\n"));
  });
  response.on("error", () => undefined);
  response.once("close", () => {
    isEnded = true;
  });
  return {
    status: response.statusCode,
    headers: response.headers,
    events,
    lastId: () => lastId,
    comments: () => comments,
    text: () => text,
    isEnded: () => isEnded,
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => request.destroy(),
  };
};
