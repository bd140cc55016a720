import type { Health } from "../../../projections/status.ts";
import { contentSecurityPolicy, escapeHtml } from "../../http/html.ts";

/** The body of `GET /public/status/summary`, in which a count below ten is the text "<10". */
export type StatusBody = {
  readonly status: Health;
  readonly updated_at: string;
  readonly components: readonly { readonly name: string; readonly status: Health }[];
  readonly last_24h: Readonly<Record<string, number | string | null>>;
  readonly days: readonly {
    readonly date: string;
    readonly status: Health;
    readonly observed: boolean;
    readonly admitted: number | string;
    readonly delivered: number | string;
    readonly failed: number | string;
  }[];
};

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --ok: #2da44e; --degraded: #d4a017; --down: #cf222e }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 48rem; margin: 8vh auto 4rem; padding: 0 1.25rem }
h1 { font-size: 1.7rem; margin: 0 0 .25rem } h2 { font-size: 1.05rem; margin: 2.2rem 0 .4rem } p { margin: 0; opacity: .8 }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid var(--line) }
.operational { color: var(--ok) } .degraded { color: var(--degraded) } .down { color: var(--down) } .unknown { color: var(--line) }
ol { display: flex; gap: 2px; list-style: none; padding: 0; margin: .3rem 0 }
ol li { flex: 1; height: 2rem; border-radius: 2px; background: currentColor }
ol li span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
`;

const SAYS: Readonly<Record<Health, string>> = {
  operational: "All parts work",
  degraded: "Some parts do not work as they should",
  down: "The service is down",
};

const FIGURES: readonly (readonly [key: string, label: string])[] = [
  ["admitted", "Events admitted"],
  ["blocked", "Requests refused by a policy"],
  ["delivered", "Events delivered"],
  ["failed", "Deliveries that failed in the end"],
  ["delivery_success_rate", "Share of deliveries that succeeded"],
  ["delivery_p50_ms", "Admission to delivery, median (ms)"],
  ["delivery_p99_ms", "Admission to delivery, 99 of 100 (ms)"],
];

const shown = (value: number | string | null | undefined): string =>
  value === null || value === undefined ? "too few to say" : escapeHtml(String(value));

const dayItem = ({ date, status, observed, admitted, delivered, failed }: StatusBody["days"][number]): string => {
  const said = observed ? `${date}: ${status}` : `${date}: nobody looked yet`;
  const counts = `${admitted} admitted, ${delivered} delivered, ${failed} failed`;
  const text = escapeHtml(`${said}, ${counts}`);
  return `<li class="${observed ? status : "unknown"}" title="${text}"><span>${text}</span></li>`;
};

export const STATUS_CSP = contentSecurityPolicy(STYLE, "'none'");

/** The page is complete in itself: it loads nothing and needs no script. */
export const statusPage = ({ status, updated_at, components, last_24h, days }: StatusBody): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Countersign status: ${status}</title>
<style>${STYLE}</style>
</head>
<body>
<h1 class="${status}">${SAYS[status]}</h1>
<p>As of <time datetime="${updated_at}">${updated_at}</time>. The same as JSON: <a href="/public/status/summary">/public/status/summary</a></p>
<h2>Parts</h2>
<table>
${components.map((it) => `<tr><td>${escapeHtml(it.name)}</td><td class="${it.status}">${it.status}</td></tr>`).join("\n")}
</table>
<h2>The last 24 hours</h2>
<table>
${FIGURES.map(([key, label]) => `<tr><td>${label}</td><td>${shown(last_24h[key])}</td></tr>`).join("\n")}
</table>
<h2>The last ${days.length} days</h2>
<ol>
${days.toReversed().map(dayItem).join("\n")}
</ol>
</body>
</html>
`;
