const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** Only the section "First steps" is of use without a script. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Countersign</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console/style.css">
<script type="module" src="/console/main.js"></script>
</head>
<body>
<div id="start">
<main>
<h1>Countersign</h1>
<p class="lead">Stands between a trigger and the action that follows:
authenticate, gate, record, deliver under one id.</p>
<noscript><p>The console needs JavaScript; everything in it is also in the API.</p></noscript>
<p id="sign-problem" class="bad" role="alert"></p>
<div class="signs">
<form id="log-in">
<h2>Log in</h2>
<label><span>Email</span><input name="email" type="email" autocomplete="username" required></label>
<label><span>Password</span><input name="password" type="password" autocomplete="current-password" required></label>
<button type="submit">Log in</button>
</form>
<form id="sign-up">
<h2>Create an account</h2>
<label><span>Email</span><input name="email" type="email" autocomplete="username" required></label>
<label><span>Password</span><input name="password" type="password" autocomplete="new-password" required></label>
<label><span>Account name (optional)</span><input name="account_name" type="text" autocomplete="organization"></label>
<button type="submit">Create it</button>
</form>
</div>
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
<nav class="links" aria-label="Elsewhere">
<a href="/docs">API reference</a>
<a href="/openapi.json">OpenAPI 3.1</a>
<a href="/public/status/summary">Status</a>
<a href="/health">Health</a>
</nav>
</main>
</div>
<div id="console" hidden>
<header>
<strong>Countersign</strong>
<nav id="navigation" aria-label="Console"></nav>
<p id="who"></p>
<a href="/docs">API</a>
<button id="refresh" type="button">Refresh</button>
<button id="log-out" type="button">Log out</button>
</header>
<p id="notice" role="status" hidden></p>
<main id="content" tabindex="-1"></main>
</div>
</body>
</html>
`;

/** Replacements in the page for a service on which sign-up is closed. */
const WHERE_CLOSED = [
  ['<form id="sign-up">', '<form id="sign-up" hidden>'],
  ["<li>Create an account.", "<li>Accept an owner's invitation, or log in."],
  ["/v1/auth/signup", "/v1/auth/login"],
] as const;

export const consolePage = (publicUrl: string, signup: "open" | "closed"): string => {
  const changes = signup === "closed" ? WHERE_CLOSED : [];
  const page = changes.reduce((text, [from, to]) => text.replace(from, to), PAGE);
  return page.replaceAll("ORIGIN", escapeHtml(publicUrl));
};

/**
 * Trusted Types (W3C, section 4.2) make the browser refuse text as markup, so that even a bug in a script cannot run
 * what a webhook contains.
 */
export const CONSOLE_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
