/** The console's tokens, in small. There is no network, so the fonts are those of the reader's system. */
export const STYLE = `
:root { color-scheme: light dark;
  --paper: light-dark(#F4F7F5, #0D1412); --well: light-dark(#EAF0ED, #111A17); --sheet: light-dark(#FFFFFF, #16201C);
  --rule: light-dark(#D6DFDA, #283530); --edge: light-dark(#7C8B84, #6F8078);
  --ink: light-dark(#13201B, #E7EEEA); --ink-2: light-dark(#3F4E47, #B9C6C0); --ink-3: light-dark(#56655E, #96A69E);
  --blue: light-dark(#2B3FA6, #AAB7FF);
  --ok: light-dark(#1B6B44, #6CCB97); --wait: light-dark(#855000, #EFB65E); --fail: light-dark(#B0241C, #FF9088);
  --sans: "Instrument Sans", system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --serif: "Source Serif 4", Charter, "Iowan Old Style", Cambria, Georgia, serif;
  --mono: "Spline Sans Mono", ui-monospace, "SF Mono", "Cascadia Mono", Consolas, monospace }
*, ::before, ::after { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 400 .9375rem/1.5 var(--sans); font-variant-numeric: tabular-nums }
main, .top, .end { max-width: 62rem; margin: 0 auto; padding: 0 1.5rem }
h1, h2, h3, p, ul, dl, dd, figure { margin: 0; padding: 0 }
h1 { font: 600 1.875rem/2.375rem var(--serif); text-wrap: balance }
h2 { font: 600 1.25rem/1.75rem var(--serif); padding-bottom: .375rem; border-bottom: 1px solid var(--ink) }
h3 { font: 600 .9375rem/1.5 var(--sans) }
a { color: var(--blue); text-underline-offset: .2em }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px }
code, pre { font: 400 .8125rem/1.25rem var(--mono); overflow-wrap: anywhere }
pre { margin: .5rem 0 0; padding: .75rem 1rem; background: var(--well); white-space: pre-wrap }
time { white-space: nowrap }
.skip { position: absolute; left: .75rem; top: -4rem; background: var(--sheet); padding: .5rem 1rem; border: 1px solid var(--edge) }
.skip:focus { top: .5rem }
.brand { padding: 1.25rem 0 2rem; font: 600 1.0625rem/1.75rem var(--serif) }
.brand span { color: var(--blue) }
.head { display: grid; gap: .5rem; padding-bottom: 1rem; border-bottom: 3px double var(--edge) }
.when { font-weight: 600 }
nav { display: flex; flex-wrap: wrap; gap: .375rem 1.5rem; padding: .75rem 0; border-bottom: 1px solid var(--rule) }
.summary td:not(.n) { min-width: 12rem }
.meta { color: var(--ink-2) }
.quiet { color: var(--ink-3) }
section { margin-top: 2.5rem; display: grid; gap: .875rem }
section > * { min-width: 0 }
.claim { display: grid; gap: .625rem; padding: 1rem 1.25rem; background: var(--sheet); border: 1px solid var(--rule); border-left: 3px solid var(--edge) }
.claim.ok { border-left-color: var(--ok) } .claim.fail { border-left-color: var(--fail) } .claim.wait { border-left-color: var(--wait) }
.claim > header { display: flex; gap: .25rem 1.25rem; justify-content: space-between; align-items: baseline }
.st { white-space: nowrap; font-weight: 600 }
.st.ok { color: var(--ok) } .st.fail { color: var(--fail) } .st.wait { color: var(--wait) } .st.info { color: var(--ink-2) }
.note { padding: 1rem 1.25rem; border-left: 3px solid var(--wait); background: var(--well); display: grid; gap: .5rem }
.not { padding-left: 1.25rem; display: grid; gap: .375rem }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1.5rem }
dt { color: var(--ink-3) } dd { overflow-wrap: anywhere }
.scroll { overflow-x: auto }
table { width: 100%; border-collapse: collapse; font-size: .875rem }
caption { text-align: left; color: var(--ink-3); padding-bottom: .25rem }
th, td { padding: .3125rem .75rem .3125rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top }
.long { display: inline-block; min-width: 9rem; overflow-wrap: anywhere }
td time { white-space: normal }
th { font-weight: 600; color: var(--ink-2) }
thead th, th[scope=row] { overflow-wrap: normal } th[scope=row] { white-space: nowrap }
.n { text-align: right; white-space: nowrap }
details > summary { cursor: pointer; color: var(--ink-2) }
.end { padding: 3rem 1.5rem 4rem; color: var(--ink-3) }
@media (max-width: 40rem) { .claim > header { display: grid } dl { grid-template-columns: minmax(0, 1fr); gap: 0 } dd { margin-bottom: .5rem } }
@media print {
  :root { color-scheme: light } body { background: #fff; font-size: 9.5pt } main, .top, .end { max-width: none; padding: 0 }
  .skip, nav, details { display: none } .claim { break-inside: avoid; border-width: 1px 0 0 3px } h2, h3 { break-after: avoid } a { color: inherit }
  section { margin-top: 1.25rem } thead { display: table-header-group } tr { break-inside: avoid }
}
`;
