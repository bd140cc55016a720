import { contentSecurityPolicy, escapeHtml } from "../http/html.ts";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --accent: #2f6f4f }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 40rem; margin: 8vh auto 4rem; padding: 0 1.25rem }
h1 { font-size: 1.6rem; margin: 0 0 .75rem }
ul { padding: 0; list-style: none } li { border-top: 1px solid var(--line); padding: .7rem 0 }
form { margin: .5rem 0 } button { font: inherit; padding: .45rem 1rem; border-radius: 6px; border: 1px solid var(--accent); background: var(--accent); color: #fff }
.notice { border-left: 3px solid #d4a017; padding-left: .8rem }
`;

/** The Content-Security-Policy lets a page send its forms only to this service. */
export const BILLING_CSP = contentSecurityPolicy(STYLE, "'self'");

const GO_ON_S = 3;

/** HTML in which every inserted value is escaped. */
type Html = string;

const paragraph = (text: string, kind = ""): Html =>
  `<p${kind === "" ? "" : ` class="${kind}"`}>${escapeHtml(text)}</p>`;
const link = (href: string, text: string): Html => `<p><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></p>`;

type Button = { readonly action: string; readonly text: string };

const form = ({ action, text }: Button): Html =>
  `<form method="post" action="${escapeHtml(action)}"><button type="submit">${escapeHtml(text)}</button></form>`;

export type Choice = {
  readonly says: string;
  readonly notices: readonly string[];
  /** Null if the choice is in force already. */
  readonly button: Button | null;
};

export type Page = {
  readonly title: string;
  readonly says: readonly string[];
  readonly choices?: readonly Choice[];
  readonly leave?: { readonly href: string; readonly text: string } | null;
  /** True if the page moves on to the address in `leave` by itself. */
  readonly goesOn?: boolean;
};

const choiceItem = ({ says, notices, button }: Choice): Html =>
  `<li>${[
    paragraph(says),
    ...notices.map((it) => paragraph(it, "notice")),
    ...(button === null ? [] : [form(button)]),
  ].join("")}</li>`;

export const billingPage = ({ title, says, choices = [], leave = null, goesOn = false }: Page): Html => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${leave !== null && goesOn ? `<meta http-equiv="refresh" content="${GO_ON_S}; url=${escapeHtml(leave.href)}">\n` : ""}<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${says.map((it) => paragraph(it)).join("\n")}
${choices.length === 0 ? "" : `<ul>\n${choices.map(choiceItem).join("\n")}\n</ul>`}
${leave === null ? "" : link(leave.href, leave.text)}
</body>
</html>
`;
