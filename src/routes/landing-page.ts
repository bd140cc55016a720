import { createHash } from "node:crypto";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881 }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 44rem; margin: 12vh auto 4rem; padding: 0 1.25rem }
h1 { font-size: 1.9rem; margin: 0 0 .25rem } h2 { font-size: 1.05rem; margin: 2.2rem 0 .4rem }
p.lead { margin: 0; opacity: .8 } ol { padding-left: 1.2rem } li { margin: .35rem 0 }
code { background: var(--soft); padding: .1rem .3rem; border-radius: .25rem }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; overflow-x: auto }
pre code { background: none; padding: 0 } nav a { margin-right: 1.2rem }
`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Countersign</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Countersign</h1>
<p class="lead">Stands between a trigger and the action that follows:
authenticate, gate, record, deliver under one id.</p>
<h2>First steps</h2>
<ol>
<li>Create an account. The answer sets a session cookie.</li>
<li>Make an API key with <code>POST /v1/api-keys</code>.</li>
<li>Register where events go (<code>POST /v1/endpoints</code>) and where they come from (<code>POST /v1/sources</code>).</li>
<li>Point the provider's webhook at the <code>ingest_url</code> of the answer.</li>
</ol>
<pre><code>curl -c cookies.txt ORIGIN/v1/auth/signup \\
  -H 'content-type: application/json' \\
  -d '{"email": "you@example.com", "password": "a long passphrase of yours"}'

curl -b cookies.txt ORIGIN/v1/api-keys \\
  -H 'content-type: application/json' -H 'sec-fetch-site: same-origin' \\
  -d '{"name": "first", "role": "admin"}'</code></pre>
<h2>Where to look</h2>
<nav>
<a href="/docs">API reference</a>
<a href="/openapi.json">OpenAPI 3.1</a>
<a href="/public/status/summary">Status</a>
<a href="/health">Health</a>
</nav>
</body>
</html>
`;

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

export type Page = { readonly html: string; readonly csp: string };

/** One page, nothing loaded: its style is allowed by its hash (CSP level 3, section 2.3.1), and nothing else is. */
export const landingPage = (origin: string): Page => {
  const hash = createHash("sha256").update(STYLE).digest("base64");
  return {
    html: PAGE.replaceAll("ORIGIN", escapeHtml(origin)),
    csp: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
};
