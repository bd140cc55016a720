import { toBase64 } from "../../../domain/evidence/bytes.ts";
import { parseCheckpoint } from "../../../domain/evidence/checkpoint.ts";
import { parseNote } from "../../../domain/evidence/signed-note.ts";
import { CONTROL_FILE, EXPORT_FILE, FINDINGS_FILE, MANIFEST_FILE, PROOFS_FILE } from "../files.ts";
import type { ControlFinding, Findings } from "../findings.ts";
import { claimHtml, stateOf } from "./claim.ts";
import { type Html, html, time } from "./html.ts";
import { STYLE } from "./style.ts";

const facts = (rows: readonly (readonly [string, Html])[]): Html =>
  html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

const inPeriod = ({
  in_period: { records, first, last, of_other_times_between: others },
}: Findings["export"]): Html => {
  if (records === 0) return html`none`;
  const between =
    others === 0
      ? ""
      : `; ${others} between these say another time, because nodes' clocks differ or somebody wrote it so`;
  return html`${records}, from ${first} to ${last}${between}`;
};

const covered = ({ covers: { start, end, up_to }, from_index: from }: Findings["export"]): Html => {
  if (start && end) return html`all of it`;
  const until = end
    ? html`to its end`
    : up_to === null
      ? html`up to no time, because no record is late enough`
      : html`up to ${time(up_to)}, a minute before the time of the last record, because records may be out of order by less than that`;
  const since = start
    ? html`from its beginning`
    : html`from record ${from} on, before which others of the period may lie,`;
  return html`${since} ${until}. A claim that could be otherwise with the records that are not here stays open.`;
};

const wholeOrPart = (from: number, to: number, size: number): string => {
  if (from === 0) return to === size ? "all records below the checkpoint" : `the part before record ${to}`;
  return to === size ? `the part from record ${from} on` : "a part";
};

const exportFacts = ({ account, period, made_at, made_by, export: exported }: Findings): Html => {
  const checkpoint = parseCheckpoint(parseNote(exported.checkpoint)?.text ?? "");
  const { from_index: from, to_index: to, records, lines, last_recorded_at } = exported;
  const whole = wholeOrPart(from, to, checkpoint?.size ?? to);
  return facts([
    ["Account", html`<code>${account}</code>`],
    ["Period", html`from ${time(period.from)} to before ${time(period.to)}`],
    ["Records in the export", html`${records}, ${whole}: ${from} to ${to - 1}`],
    ["Records of the period in the export", inPeriod(exported)],
    ["How much of the period the export covers", covered(exported)],
    ["The last record says", last_recorded_at === null ? html`nothing` : time(last_recorded_at)],
    ["Checkpoint", html`<code>${checkpoint?.origin ?? ""}</code>, size ${checkpoint?.size ?? 0}`],
    ["Root", html`<code>${checkpoint === null ? "" : toBase64(checkpoint.root)}</code>`],
    ["Key that the operator names", html`<code>${exported.key}</code>`],
    ["Cosigned checkpoints", html`${lines.cosigned ?? 0}`],
    ["Payloads", html`${lines.payload ?? 0}`],
    ["Made at", html`${time(made_at)}, by the clock of the machine that made this pack, with version ${made_by}`],
  ]);
};

const SUMMARY_WORDS = [
  "Holds",
  "Does not hold",
  "Open",
  "Not answered",
  "Nothing to check",
  "For information",
] as const;

type Word = (typeof SUMMARY_WORDS)[number];

const summaryRow = (control: ControlFinding, shown: readonly Word[]): Html => {
  const words = control.claims.map((claim) => stateOf(claim).word);
  const counts = shown.map((word) => words.filter((it) => it === word).length);
  return html`<tr><th scope="row"><a href="#${control.id}">${control.id}</a></th><td>${control.title}</td>${counts.map((count) => html`<td class="n">${count === 0 ? html`<span class="quiet">–</span>` : count}</td>`)}</tr>`;
};

/** That no claim fails is said even so; other answers that no claim has take no column. */
const summary = ({ controls }: Findings): Html => {
  const found = new Set(controls.flatMap(({ claims }) => claims.map((claim) => stateOf(claim).word)));
  const shown = SUMMARY_WORDS.filter((word) => word === "Does not hold" || found.has(word));
  return html`<section aria-labelledby="summary"><h2 id="summary">Summary</h2><div class="scroll" tabindex="0" role="region" aria-labelledby="summary"><table class="summary"><caption>How many claims of each control have which answer</caption><thead><tr><th scope="col">Control</th><th scope="col">About</th>${shown.map((word) => html`<th scope="col" class="n">${word}</th>`)}</tr></thead><tbody>${controls.map((it) => summaryRow(it, shown))}</tbody></table></div></section>`;
};

const notList = (items: readonly string[]): Html =>
  html`<ul class="not">${items.map((it) => html`<li>${it}</li>`)}</ul>`;

const controlHtml = ({ id, title, may_support, claims, not_evidenced }: ControlFinding): Html =>
  html`<section aria-labelledby="${id}"><h2 id="${id}">${id} · ${title}</h2><p><b>May support:</b> ${may_support}</p>${claims.map(claimHtml)}<h3>Not evidenced here</h3>${notList(not_evidenced)}</section>`;

const PURPOSE = html`<div class="note"><p><b>What this is.</b> Each claim below is a query over the records of one account, with its answer. The records may support the controls that are named. Whether a control is suitable and effective is for an auditor to judge.</p><p><b>What makes it evidence.</b> Not this page, and not who made it, but the checkpoint: a signed statement of all records up to one point. Whoever has the operator's key from elsewhere can check with it that no record is missing or altered, and ask the same queries again.</p></div>`;

const CONTENTS = html`<nav aria-label="Contents"><a href="#export">What it rests on</a> <a href="#summary">Summary and claims</a> <a href="#not">What is not evidenced</a> <a href="#checking">How to check this pack</a></nav>`;

const CHECKING = html`<section aria-labelledby="checking"><h2 id="checking">How to check this pack</h2><p>Give the folder to a verifier that did not come with it, and the key that you got from the operator at another time and in another way:</p><pre>countersign verify FOLDER --key VKEY</pre><p>It checks the list of files (<code>${MANIFEST_FILE}</code>) and the export with its proofs (<code>${EXPORT_FILE}</code>). Then it asks all queries of <code>${CONTROL_FILE}</code> again, and makes <code>${FINDINGS_FILE}</code>, <code>${PROOFS_FILE}</code> and this page anew: they have to be the same to the byte. A witness's key, <code>--witness VKEY</code>, says as of which time the records were seen by somebody else.</p><p>Each line of <code>${PROOFS_FILE}</code> is one record with its own proof. It can be shown to somebody without the others. All of this works without a network.</p></section>`;

/** One file without scripts and without anything from the network. The same findings make the same bytes. */
export const reportHtml = (findings: Findings): string => {
  const { framework, period, controls, not_evidenced } = findings;
  const day = (iso: string): string => iso.slice(0, 10);
  const title = `Evidence pack, ${day(period.from)} to ${day(period.to)}`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<div class="top"><p class="brand">Countersign <span>·</span> Evidence pack</p></div>
<main id="main">
<div class="head"><h1>${framework.title}</h1><p class="when">${time(period.from)} to before ${time(period.to)} · <code>${findings.account}</code></p><p class="meta">${framework.source}</p></div>
${CONTENTS}
<section>${PURPOSE}</section>
<section aria-labelledby="export"><h2 id="export">What it rests on</h2>${exportFacts(findings)}</section>
${summary(findings)}
${controls.map(controlHtml)}
<section aria-labelledby="not"><h2 id="not">What this pack does not evidence</h2>${notList(not_evidenced)}</section>
${CHECKING}
</main>
<p class="end">“Holds” means that the claim is true of the records in the export, and that these are all that it asks about. “Open” means that records which are not here could change the answer. Neither says anything about what was not recorded. Times of records are the operator's word.</p>
</body>
</html>
`;
  return page.html;
};
