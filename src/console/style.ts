export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --edge: #808080; --soft: #8881; --good: #1a7f37; --wait: #8a5a00; --bad: #c01c28; --link: #0b57d0; --on-link: #fff }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --wait: #d29922; --bad: #ff7b72; --link: #8ab4f8; --on-link: #10131a } }
* { box-sizing: border-box }
[hidden] { display: none !important }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; background: Canvas; color: CanvasText }
h1 { font-size: 1.6rem; margin: 0 0 .4rem; overflow-wrap: anywhere } h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem } h3 { font-size: .95rem; margin: .8rem 0 .2rem }
h1 .badge { vertical-align: middle }
a { color: var(--link) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px } #content:focus { outline: none }
code, pre { font: 13px/1.45 ui-monospace, monospace }
code, dd { overflow-wrap: anywhere }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem 1rem; overflow: auto; max-height: 32rem }
small { display: block; opacity: .75; overflow-wrap: anywhere }
small.id { max-width: 17rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
p.lead { margin: 0; opacity: .8 } p.empty, .quiet { opacity: .75 } .bad { color: var(--bad) } .tight, td time { white-space: nowrap }
.why { margin: .8rem 0; padding: .6rem 1rem; background: var(--soft); border-left: 4px solid var(--wait) } .why.bad { border-color: var(--bad); color: inherit }
.why p { margin: 0; overflow-wrap: anywhere } .why pre { margin: .5rem 0 0; max-height: 12rem }
#start main { max-width: 46rem; margin: 9vh auto 4rem; padding: 0 1.25rem }
#start p code, #start li code { background: var(--soft); padding: .1rem .3rem; border-radius: .25rem }
.signs { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem } .signs form { flex: 1 1 16rem }
.links a { margin-right: 1.2rem }
#console > header { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1.2rem; padding: .6rem 1.25rem; border-bottom: 1px solid var(--line) }
#navigation ul { display: flex; flex-wrap: wrap; gap: .2rem 1rem; list-style: none; margin: 0; padding: 0 }
#navigation a { display: inline-block; padding: .15rem 0 } #navigation a[aria-current] { font-weight: 650; text-decoration: none; color: inherit }
#who { margin: 0 0 0 auto; opacity: .75; font-size: .9em; overflow-wrap: anywhere }
#notice { position: sticky; top: 0; z-index: 1; margin: 0; padding: .5rem 1.25rem; background: Canvas; border-bottom: 1px solid var(--line) } #notice.good { color: var(--good) }
#content { padding: 1.25rem; max-width: 90rem; margin: 0 auto }
label { display: block; margin: .3rem 0 } label > span { display: block; font-size: .85em; opacity: .8 }
input, select, button { font: inherit; padding: .25rem .5rem; border: 1px solid var(--edge); border-radius: .35rem }
input, select { background: Field; color: FieldText } select { min-height: 2.1rem }
.signs input { width: 100% } .signs button { margin-top: .5rem }
button { cursor: pointer; background: var(--soft); color: inherit } button:hover { border-color: currentColor }
button[type=submit] { background: var(--link); border-color: var(--link); color: var(--on-link) }
button.danger { background: none; border-color: currentColor; color: var(--bad) }
form.filters, form.inline { display: flex; flex-wrap: wrap; gap: .3rem .8rem; align-items: end; margin: .4rem 0 1rem }
form.filters label, form.inline label { margin: 0 } form.filters input[type=search] { min-width: 22rem }
form.filters details { flex-basis: 100%; margin: 0 } .fields { display: flex; flex-wrap: wrap; gap: .3rem .8rem; margin-top: .3rem }
.buttons { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: center }
.scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line) }
th { font-size: .85em; opacity: .8; font-weight: 600 } td { overflow-wrap: anywhere; min-width: 3.5rem; max-width: 34rem }
td details { margin: 0 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .6rem 0 } dt { opacity: .75 } dd { margin: 0 }
.badge { display: inline-block; font-size: .82rem; font-weight: 600; padding: 0 .5rem; border: 1px solid currentColor; border-radius: 1rem; white-space: nowrap }
.badge.good { color: var(--good) } .badge.wait { color: var(--wait) } .badge.bad { color: var(--bad) }
.steps .badge { margin: 0 .2rem .2rem 0 }
ol.timeline { list-style: none; padding: 0; margin: 0 }
ol.timeline li { display: grid; grid-template-columns: 5.5rem 11rem 1fr max-content; gap: 0 .8rem; padding: .2rem 0; border-bottom: 1px solid var(--line) }
ol.timeline span { overflow-wrap: anywhere }
.gap { text-align: right; opacity: .75 } .gap.slow { color: var(--wait); opacity: 1; font-weight: 600 }
details { margin: .4rem 0 } summary { cursor: pointer }
.pager { margin: 1rem 0 }
@media (max-width: 640px) {
#content { padding: 1rem .9rem } #console > header { padding: .6rem .9rem } #who { margin: 0; flex-basis: 100% }
#navigation a, #console > header a { padding: .3rem 0 } button, input, select { min-height: 2.4rem }
form.filters label, form.inline label { flex: 1 1 100% } label input, label select, form.filters input[type=search] { width: 100%; min-width: 0 } .fields { flex-direction: column }
dl { grid-template-columns: fit-content(42%) 1fr; gap: .2rem .8rem }
thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
table, tbody, tr, td { display: block } tr { padding: .6rem 0; border-bottom: 1px solid var(--line) }
td { display: grid; grid-template-columns: 5.5rem 1fr; gap: .8rem; border: 0; padding: .1rem 0; max-width: none } td:empty { display: none }
td::before { content: attr(data-label); opacity: .75; font-size: .85em } td > * { min-width: 0; max-width: 100%; justify-self: start }
small.id { max-width: 100% }
ol.timeline li { grid-template-columns: 4.5rem 1fr } ol.timeline li > :nth-child(n + 3) { grid-column: 2; font-size: .9em } ol.timeline li > :empty:not(.gap) { display: none }
}
`;
