import { escapeHtml } from "./html.ts";

/** What every call has in common; `base` is the address of the service. */
export const docsIntroduction = (base: string): string => `<h2 id="introduction">Introduction</h2>
<p>The base address is <code>${escapeHtml(base)}</code>. Bodies are JSON in UTF-8, times are RFC 3339 in UTC. An unknown field of a body is refused.</p>
<table>
<tr><td>Credentials</td><td>A key of the account (<code>csk_…</code>) or of an agent (<code>csa_…</code>) goes into <code>Authorization: Bearer</code>. The console has a session in a cookie; a call with it that changes something must come from the console's own origin. Each call below says which of them it takes.</td></tr>
<tr><td>Errors</td><td>An error is <code>application/problem+json</code> (RFC 9457). Act by its <code>code</code>: <a href="/problems/invalid-request">/problems/&lt;code&gt;</a> says what happened and what to do. With <code>retryable: true</code> the same request may succeed later, after <code>Retry-After</code> if there is one. <code>errors</code> names each wrong place of a body; <code>trace_id</code> names the request to the operator.</td></tr>
<tr><td>Pages</td><td>A list is <code>{"data": […], "next_cursor": …}</code>, the newest first. <code>?limit=</code> is from 1 to 100, unless the call says otherwise. Call again with <code>?cursor=</code> and the last <code>next_cursor</code>, until that is null.</td></tr>
<tr><td>Repeats</td><td>With the header <code>Idempotency-Key</code>, a call that changes something can be sent again safely: for 7 days the same request gets the first answer, with <code>Idempotent-Replayed: true</code>. Another body under the same key is <a href="/problems/idempotency-key-reused">idempotency-key-reused</a>.</td></tr>
<tr><td>Own changes</td><td>A call that changes something answers with <code>Countersign-Position</code>. A read with <code>?after=</code> and that position shows the change, or answers <a href="/problems/view-behind">view-behind</a> after two seconds.</td></tr>
<tr><td>Rates</td><td>Every answer to a credential has <code>RateLimit</code> and <code>RateLimit-Policy</code>; beyond the limit it is <a href="/problems/rate-limited">rate-limited</a>.</td></tr>
</table>
<pre><code>curl -H 'Authorization: Bearer csk_…' ${escapeHtml(base)}/v1/events?limit=2</code></pre>`;
