import type { FastifyInstance, FastifyReply } from "fastify";
import { notFound, PROBLEM_CODES, PROBLEMS, type ProblemCode } from "../streams/problems.ts";
import { type Description, docsPage } from "./docs-page.ts";
import { contentSecurityPolicy, escapeHtml } from "./html.ts";
import { htmlPage, PAGE_STYLE } from "./page-style.ts";
import { PROBLEM_ADVICE } from "./problem-advice.ts";
import { sendProblem } from "./problem-reply.ts";

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": contentSecurityPolicy(PAGE_STYLE, "'none'"),
  "cache-control": "no-cache",
};

const problemPage = (code: ProblemCode): string => {
  const { title, status, retryable } = PROBLEMS[code];
  const [happened, next] = PROBLEM_ADVICE[code];
  const again = retryable
    ? "The same request may succeed later."
    : "The same request will be answered in the same way.";
  return htmlPage(
    `${escapeHtml(title)} - Countersign`,
    `<h1>${escapeHtml(title)}</h1>
<p><code>${code}</code>, status ${status}. ${again}</p>
<dl><dt>What happened</dt><dd>${escapeHtml(happened)}</dd><dt>What to do</dt><dd>${escapeHtml(next)}</dd></dl>
<p>The <code>detail</code> of the answer says more about your request, and its <code>trace_id</code> names it to the operator.</p>
<p><a href="/docs">The API</a></p>`,
  );
};

const sendPage = (reply: FastifyReply, page: string): FastifyReply => reply.headers(PAGE_HEADERS).send(page);

/** The pages for people: the API, and one page for each problem, to which the `type` of a problem leads. */
export const addPages = (app: FastifyInstance, description: () => unknown): void => {
  let docs: string | undefined;
  app.get("/docs", { schema: { hide: true } }, async (_request, reply) => {
    // The description is made by this program, and a test compares its shape.
    docs ??= docsPage(description() as Description);
    return sendPage(reply, docs);
  });
  app.get<{ Params: { code: string } }>("/problems/:code", { schema: { hide: true } }, async (request, reply) => {
    const code = PROBLEM_CODES.find((it) => it === request.params.code);
    return code === undefined ? sendProblem(request, reply, notFound()) : sendPage(reply, problemPage(code));
  });
};
