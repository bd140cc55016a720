/** The console's style sheet. System colours, so that it is dark where its reader's system is. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --good: #1a7f37; --wait: #9a6700; --bad: #cf222e }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --wait: #d29922; --bad: #ff7b72 } }
* { box-sizing: border-box }
[hidden] { display: none !important }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 }
h1 { font-size: 1.6rem; margin: 0 0 .4rem } h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem } h3 { font-size: .95rem; margin: .8rem 0 .2rem }
code, pre { font: 13px/1.45 ui-monospace, monospace }
code { overflow-wrap: anywhere }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem 1rem; overflow: auto; max-height: 32rem }
small { display: block; opacity: .7; overflow-wrap: anywhere }
p.lead { margin: 0; opacity: .8 } p.empty { opacity: .7 } .bad { color: var(--bad) }
#start main { max-width: 46rem; margin: 9vh auto 4rem; padding: 0 1.25rem }
#start p code, #start li code { background: var(--soft); padding: .1rem .3rem; border-radius: .25rem }
.signs { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem } .signs form { flex: 1 1 16rem }
.links a { margin-right: 1.2rem }
#console > header { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1.2rem; padding: .6rem 1.25rem; border-bottom: 1px solid var(--line) }
#navigation ul { display: flex; flex-wrap: wrap; gap: .2rem 1rem; list-style: none; margin: 0; padding: 0 }
#navigation a[aria-current] { font-weight: 650; text-decoration: none; color: inherit }
#who { margin: 0 0 0 auto; opacity: .7; font-size: .9em }
#notice { margin: 0; padding: .5rem 1.25rem; background: var(--soft) } #notice.good { color: var(--good) }
#content { padding: 1.25rem; max-width: 90rem; margin: 0 auto }
label { display: block; margin: .3rem 0 } label > span { display: block; font-size: .85em; opacity: .8 }
input, select, button { font: inherit; padding: .25rem .5rem; border: 1px solid var(--line); border-radius: .35rem }
.signs input { width: 100% } .signs button { margin-top: .5rem }
button { cursor: pointer } button.danger { color: var(--bad) }
form.filters, form.inline { display: flex; flex-wrap: wrap; gap: .3rem .8rem; align-items: end; margin: .4rem 0 1rem }
form.filters label, form.inline label { margin: 0 } form.filters input[type=search] { min-width: 18rem }
.buttons { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: center }
.scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line) }
th { font-size: .85em; opacity: .8; font-weight: 600 } td { overflow-wrap: break-word; max-width: 34rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .6rem 0 } dt { opacity: .7 } dd { margin: 0 }
.badge { display: inline-block; font-size: .82rem; font-weight: 600; padding: 0 .5rem; border: 1px solid currentColor; border-radius: 1rem; white-space: nowrap }
.badge.good { color: var(--good) } .badge.wait { color: var(--wait) } .badge.bad { color: var(--bad) }
.steps .badge { margin: 0 .2rem .2rem 0 }
ol.timeline { list-style: none; padding: 0; margin: 0 }
ol.timeline li { display: grid; grid-template-columns: 5.5rem 11rem 1fr max-content; gap: .8rem; padding: .2rem 0; border-bottom: 1px solid var(--line) }
.gap { text-align: right; opacity: .7 } .gap.slow { color: var(--wait); opacity: 1; font-weight: 600 }
details { margin: .4rem 0 } summary { cursor: pointer }
.pager { margin: 1rem 0 }
`;
