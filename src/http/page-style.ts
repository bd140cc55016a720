/** The look of the pages for people that need no script. A test compares the colours with those of the console. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#F4F7F5, #0D1412);
  --sheet: light-dark(#FFFFFF, #16201C);
  --rule: light-dark(#D6DFDA, #283530);
  --ink: light-dark(#13201B, #E7EEEA);
  --ink-2: light-dark(#3F4E47, #B9C6C0);
  --blue: light-dark(#2B3FA6, #AAB7FF);
  --sans: "Instrument Sans", system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --serif: "Source Serif 4", Charter, "Iowan Old Style", Cambria, Georgia, serif;
  --mono: "Spline Sans Mono", ui-monospace, "SF Mono", "Cascadia Mono", Consolas, monospace;
}
body { background: var(--paper); color: var(--ink); font: 1rem/1.5 var(--sans); max-width: 60rem; margin: 3rem auto; padding: 0 1.25rem }
h1, h2 { font-family: var(--serif); font-weight: 600; line-height: 1.25 } h1 { font-size: 1.875rem } h2 { font-size: 1.5rem; margin: 3rem 0 .75rem }
a { color: var(--blue) } code { font: .8125rem/1.25rem var(--mono); overflow-wrap: anywhere } p { color: var(--ink-2); margin: .5rem 0 }
details { background: var(--sheet); border: 1px solid var(--rule); border-radius: 4px; margin: .5rem 0; padding: .5rem .75rem }
summary { cursor: pointer } table { border-collapse: collapse; width: 100%; font-size: .875rem; margin: .5rem 0 }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem .25rem 0; border-top: 1px solid var(--rule) }
pre { overflow-x: auto; margin: .5rem 0 } nav a { margin-right: 1rem } dt { font-weight: 600; margin-top: 1rem } dd { margin: 0; color: var(--ink-2) }
`;

/** A whole page; `title` and `body` are HTML already. */
export const htmlPage = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
