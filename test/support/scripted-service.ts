import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Terminal, Tone } from "../../src/cli/command.ts";
import { run } from "../../src/cli/run.ts";

type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Answers a command line as a test says, and remembers what it was asked. */
export type ScriptedService = {
  readonly url: string;
  /** Method and path with query, and the body. */
  readonly asked: readonly {
    readonly call: string;
    readonly body: string;
    readonly headers: IncomingMessage["headers"];
  }[];
  answer(respond: Respond): void;
  close(): void;
};

export const scriptedService = async (): Promise<ScriptedService> => {
  const asked: ScriptedService["asked"][number][] = [];
  let respond: Respond = (_, response) => response.writeHead(404).end();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      asked.push({ call: `${request.method} ${request.url}`, body, headers: request.headers });
      respond(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(next) {
      asked.length = 0;
      respond = next;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};

/** A command in this process, with what it printed. */
export const ran = async (
  args: readonly string[],
  env: Record<string, string> = {},
  person: Pick<Terminal, "screen" | "isRead"> = {},
) => {
  const [printed, noted]: [string[], string[]] = [[], []];
  const bytes: Uint8Array[] = [];
  const status = await run(args, env, {
    out: (it) => void (typeof it === "string" ? printed.push(it) : bytes.push(it)),
    note: (line) => noted.push(line),
    ...person,
  });
  return { status, out: printed.join("\n"), note: noted.join("\n"), bytes: Buffer.concat(bytes) };
};

/** The parts with a tone of what a command prints, if the service gives this answer to every call. */
export const toned = async (
  args: readonly string[],
  answer: unknown,
): Promise<readonly { readonly text: string; readonly tone: Tone }[]> => {
  const service = await scriptedService();
  service.answer((_, response) => sendJson(response, 200, answer));
  const found: { readonly text: string; readonly tone: Tone }[] = [];
  try {
    await run(
      args,
      { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: "csk_a" },
      {
        out(it, tones) {
          if (typeof it !== "string" || tones === undefined) return;
          const parts = typeof tones === "string" ? [{ from: 0, to: it.length, tone: tones }] : tones;
          found.push(...parts.map(({ from, to, tone }) => ({ text: it.slice(from, to), tone })));
        },
        note: () => undefined,
      },
    );
  } finally {
    service.close();
  }
  return found;
};
