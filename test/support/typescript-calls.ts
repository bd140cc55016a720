import type { Credential, DescribedCall } from "./described-calls.ts";
import type { DescribedWorld } from "./described-world.ts";

const ENDLESS = "text/event-stream";

const headersOf = ({ cookie, key, agentKey, token }: DescribedWorld): Readonly<Record<Credential, object>> => ({
  session: { cookie, "sec-fetch-site": "same-origin" },
  key: { authorization: `Bearer ${key}` },
  agent: { authorization: `Bearer ${agentKey}` },
  token: { authorization: `Bearer ${token}` },
  none: {},
});

const parseAs = (contentType: string | null): string | undefined => {
  if (contentType === ENDLESS) return "stream";
  return contentType === null || /[/+]json$/.test(contentType) ? undefined : "text";
};

const written = (call: DescribedCall): string => {
  const params = Object.fromEntries(Object.entries(call.parameters).filter(([, it]) => Object.keys(it).length > 0));
  const options = { params, body: call.body, parseAs: parseAs(call.contentType) };
  const result = call.contentType === null ? "nothing" : "something";
  return `${result}("${call.operationId}", await ${call.credential}.${call.method}("${call.path}", ${JSON.stringify(options)}));`;
};

/**
 * A program that makes the calls with the client of `openapi-fetch`, of which the compiler knows every type. It prints a
 * line for each: the operation and its status.
 */
export const typescriptCalls = (calls: readonly DescribedCall[], world: DescribedWorld): string =>
  `import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const clientWith = (headers: Record<string, string>) => createClient<paths>({ baseUrl: "${world.url}", headers });
${Object.entries(headersOf(world))
  .map(([credential, headers]) => `const ${credential} = clientWith(${JSON.stringify(headers)});`)
  .join("\n")}

type Answer = { readonly data?: unknown; readonly error?: unknown; readonly response: Response };

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
const nothing = (operation: string, { error, response }: Answer): void => {
  if (!response.ok && error === undefined) throw new Error(operation + " answers no problem");
  console.log(operation, response.status, codeOf(error));
};
const something = (operation: string, answer: Answer): void => {
  const { data, response } = answer;
  if (response.ok && response.status !== 204 && data === undefined) throw new Error(operation + " answers nothing");
  if (data instanceof ReadableStream) void data.cancel();
  nothing(operation, answer);
};

${calls.map(written).join("\n")}
`;
