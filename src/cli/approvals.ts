import { defined } from "../../domain/defined.ts";
import { visibleLine } from "../../domain/visible-text.ts";
import { API_HELP, API_OPTIONS, API_SYNOPSIS, type Api, apiOf } from "./api.ts";
import { type Arguments, type Command, Ended, type Terminal, UsageError } from "./command.ts";
import { json, shownTime, table } from "./formats.ts";

type Approval = {
  readonly id: string;
  readonly status: string;
  readonly title: string | null;
  readonly summary: string;
  readonly digest: string;
  readonly shown_digest: string;
  readonly requested_at: string;
  readonly expires_at: string | null;
  readonly cost_eur: number | null;
  /** Why a person has to decide. */
  readonly reasons: readonly string[];
  readonly min_approvals: number;
  readonly votes: readonly { readonly email: string; readonly decision: string; readonly comment: string | null }[];
  readonly payload?: unknown;
  /** What a held change would change. */
  readonly change?: unknown;
  readonly endpoint?: unknown;
  /** Fields that are not shown to this person. */
  readonly hidden?: readonly string[];
  readonly outcome?: string;
};

const isApprovalId = (text: string): boolean => /^apr_[a-z2-7]{1,64}$/.test(text);
const DIGEST = /^[0-9a-f]{64}$/;

const idOf = ({ positionals: [id = "", ...others] }: Arguments, name: string): string => {
  if (!isApprovalId(id) || others.length > 0) throw new UsageError(`approvals ${name} takes one approval, apr_….`);
  return id;
};

const read = (api: Api, id: string): Promise<Approval> => api.get<Approval>(`/v1/approvals/${id}`);

const given = (value: unknown): string | null =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)
    ? null
    : visibleLine(json(value));

const lines = (it: Approval): readonly string[] => {
  const facts: readonly (readonly [string, string | null])[] = [
    ["approval", it.id],
    ["status", it.status],
    ["what", visibleLine(it.title ?? it.summary)],
    ["reasons", it.reasons.length === 0 ? null : visibleLine(it.reasons.join("; "))],
    ["cost", it.cost_eur === null ? null : `${it.cost_eur} EUR`],
    ["requested", shownTime(it.requested_at)],
    ["expires", it.expires_at === null ? null : shownTime(it.expires_at)],
    ["approvals", `${it.votes.filter(({ decision }) => decision === "approve").length} of ${it.min_approvals}`],
    ["to", given(it.endpoint)],
    ["payload", given(it.payload)],
    ["hidden", given(it.hidden)],
    ["change", given(it.change)],
    ["digest", it.digest],
  ];
  const votes = it.votes.map(({ email, decision, comment }) => [
    `  ${visibleLine(email)}`,
    decision,
    visibleLine(comment ?? ""),
  ]);
  return [...table(facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))), ...table(votes)];
};

export const approvalsShow: Command = {
  synopsis: `<approval> ${API_SYNOPSIS}`,
  help: ["Prints what one approval is about, and the digest that a decision sends back.", ...API_HELP],
  options: API_OPTIONS,
  async run(args, env, { out }) {
    const it = await read(apiOf(args, env), idOf(args, "show"));
    if (args.options.json === true) return out(json(it));
    for (const line of lines(it)) out(line);
  },
};

type Decision = "approve" | "reject";

/**
 * The digest of the form that the person saw. On a terminal that is the form printed here; a script names the digest
 * that its person was shown, so that no script approves what nobody has seen.
 */
const isMeant = async (decision: Decision, it: Approval, args: Arguments, terminal: Terminal): Promise<boolean> => {
  const { digest } = args.options;
  if (digest !== undefined) {
    if (!DIGEST.test(String(digest))) throw new UsageError("--digest is the digest that approvals show prints.");
    if (digest !== it.digest)
      throw new Error(
        `The approval has another digest: it is not what you were shown. Read it with approvals show ${it.id}.`,
      );
    return true;
  }
  if (terminal.screen === undefined)
    throw new UsageError(`Without a terminal, approvals ${decision} needs --digest, which approvals show prints.`);
  for (const line of lines(it)) terminal.note(line);
  return terminal.screen.ask(decision === "approve" ? "Approve this?" : "Reject this?");
};

const deciding = (decision: Decision): Command => ({
  synopsis: `<approval> [--digest <digest>] ${decision === "approve" ? "[--comment <text>]" : "--comment <text>"} ${API_SYNOPSIS}`,
  help: [
    `${decision === "approve" ? "Approves" : "Rejects"} one request, as the person who is logged in (countersign login); a key never decides.`,
    "Shows what it is about and asks. Without a terminal it needs the digest of what the person was shown.",
    "--digest <digest>  from approvals show; does not ask",
    `--comment <text>   why${decision === "approve" ? "" : "; a rejection needs one"}`,
    ...API_HELP,
  ],
  options: { ...API_OPTIONS, digest: { type: "string" }, comment: { type: "string" } },
  async run(args, env, terminal) {
    const id = idOf(args, decision);
    const comment = typeof args.options.comment === "string" ? args.options.comment.trim() : "";
    if (decision === "reject" && comment === "") throw new UsageError("approvals reject needs --comment: say why.");
    const api = apiOf(args, env);
    const it = await read(api, id);
    if (!(await isMeant(decision, it, args, terminal))) {
      terminal.note("Nothing was decided.");
      throw new Ended(1);
    }
    const { digest, shown_digest } = it;
    // With --digest nothing was shown here, so the vote does not say which form was.
    const shown = args.options.digest === undefined ? shown_digest : undefined;
    const body = defined({ digest, shown_digest: shown, comment: comment || undefined });
    const decided = (await api.post<Approval>(`/v1/approvals/${id}/${decision}`, body)).body;
    if (args.options.json === true) return terminal.out(json(decided));
    terminal.out(`${id} is ${decided.status}`, decision === "approve" ? "good" : "bad");
  },
});

export const approvalsApprove = deciding("approve");
export const approvalsReject = deciding("reject");
