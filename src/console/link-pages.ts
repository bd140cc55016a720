type LinkPage = {
  readonly title: string;
  readonly lead: string;
  /** The address to which the form is sent; relative, because a proxy may put the page below a path. */
  readonly action: string;
  readonly button: string;
  readonly fields: readonly string[];
};

const EMAIL = `<label><span>E-mail</span><input name="email" type="email" autocomplete="username" maxlength="254" required></label>`;
const ACCOUNT_NAME = `<label><span>Name of the account</span><input name="account_name" type="text" autocomplete="organization" maxlength="100" required></label>`;
const PASSWORD = `<label><span>Password</span><input name="password" type="password" autocomplete="new-password" minlength="10" required></label>`;

const PAGES = {
  join: {
    title: "Join the account",
    lead: "You were invited. Choose a password that only you know; nobody can see or set it.",
    action: "v1/auth/invitations/accept",
    button: "Join",
    fields: [],
  },
  reset: {
    title: "Set a new password",
    lead: "This ends all of your sessions and opens a new one here.",
    action: "v1/auth/reset",
    button: "Set the password",
    fields: [],
  },
  start: {
    title: "Create the first account",
    lead: "You become its owner, and can invite others afterwards.",
    action: "v1/auth/start",
    button: "Create the account",
    fields: [EMAIL, ACCOUNT_NAME],
  },
} as const satisfies Record<string, LinkPage>;

export type LinkPageName = keyof typeof PAGES;
export const LINK_PAGES = Object.keys(PAGES) as readonly LinkPageName[];

/** The page has no text from outside: only its script reads the token, from the address's fragment. */
export const linkPage = (name: LinkPageName): string => {
  const { title, lead, action, button, fields } = PAGES[name];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Countersign</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="console/link.css">
<script type="module" src="console/link-main.js"></script>
</head>
<body>
<main>
<p class="brand">Countersign</p>
<h1>${title}</h1>
<p class="lead">${lead}</p>
<noscript><p class="bad">This page needs JavaScript: it takes the link's secret out of the address without sending it anywhere else.</p></noscript>
<form id="link" data-action="${action}">
${[...fields, PASSWORD].join("\n")}
<p class="hint">At least 10 characters. Several words are easier to remember than one.</p>
<p id="problem" class="bad" role="alert"></p>
<button type="submit">${button}</button>
</form>
<p id="nothing" class="bad" hidden>This address has no link in it. Open the whole link that you were given.</p>
</main>
</body>
</html>
`;
};

export const LINK_STYLE = `
:root { color-scheme: light dark; --paper: #F4F7F5; --sheet: #FFFFFF; --rule: #D6DFDA; --edge: #7C8B84; --ink: #13201B; --soft: #3F4E47; --blue: #2B3FA6; --blue-hover: #1E2D82; --on-blue: #FFFFFF; --fail: #B0241C }
@media (prefers-color-scheme: dark) { :root { --paper: #0D1412; --sheet: #16201C; --rule: #283530; --edge: #6F8078; --ink: #E7EEEA; --soft: #B9C6C0; --blue: #AAB7FF; --blue-hover: #C6CFFF; --on-blue: #0D1540; --fail: #FF9088 } }
*, ::before, ::after { box-sizing: border-box }
[hidden] { display: none }
body { margin: 0; padding: 12vh 1rem 3rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
main { max-width: 26rem; margin: 0 auto; padding: 2rem; background: var(--sheet); border: 1px solid var(--rule); border-top: 3px double var(--ink); border-radius: 0 0 8px 8px }
h1 { margin: 0 0 .5rem; font: 600 1.5rem/2rem Charter, "Iowan Old Style", Cambria, Georgia, serif; text-wrap: balance }
p { margin: 0 0 1rem; overflow-wrap: anywhere }
.brand { margin: 0 0 1.5rem; font: 600 1rem/1.5rem Charter, "Iowan Old Style", Cambria, Georgia, serif }
.lead { color: var(--soft) }
.hint { font-size: .8125rem; color: var(--soft) }
.bad { color: var(--fail) } .bad:empty { display: none }
label { display: block; margin: 0 0 1rem }
label > span { display: block; margin: 0 0 .25rem; font-size: .875rem; font-weight: 600 }
input { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--sheet); border: 1px solid var(--edge); border-radius: 4px }
button { width: 100%; min-height: 2.75rem; padding: .5rem 1rem; font: inherit; font-weight: 600; color: var(--on-blue); background: var(--blue); border: 0; border-radius: 4px; cursor: pointer }
button:hover { background: var(--blue-hover) } button:disabled { opacity: .6; cursor: default }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px }
`;
