/** Which names a policy may have at a place of its text, also while that is no JSON yet. Pure. */

type Names = Readonly<Record<string, string>>;

/** Each name with the kind of its value. */
const FIELDS: Names = {
  name: "text",
  budget_eur_day: "euros",
  rate_per_minute: "number",
  require_fields: "field paths",
  block_on_violation: "true or false",
  cost: "object",
  schema: "JSON Schema",
  deny: "rules",
  redact: "field paths",
  loop: "object",
  approval: "object",
  protected: "true or false",
};
const COST: Names = {
  fixed_eur: "euros",
  pointer: "field path",
  scale: "euros for each unit",
  default_eur: "euros",
  numeric_text: "true or false",
};
const RULE: Names = { name: "text", when: "condition" };
const LOOP: Names = {
  max_identical: "number",
  window_s: "seconds",
  max_per_run: "number",
  max_depth: "number",
};
const APPROVAL: Names = {
  when: "condition",
  min_approvals: "number",
  exclude_requester: "true or false",
  reveal: "roles",
  expires_after_s: "seconds",
};

/** By the names on the way; every place of a list is called 0. */
const NAMES: Readonly<Record<string, Names>> = {
  "": FIELDS,
  "/cost": COST,
  "/deny/0": RULE,
  "/loop": LOOP,
  "/approval": APPROVAL,
};
const CONDITIONS = ["/deny/0/when", "/approval/when"];
const VARIABLES = {
  payload: "what was sent",
  headers: "by lower-case name",
  source: "id, name, type",
  agent: "id, name",
  action: "text",
  cost_eur: "euros",
};
const MEMBERS: Readonly<Record<string, Names>> = {
  source: { id: "text", name: "text", type: "text" },
  agent: { id: "text", name: "text" },
};

/** A string may lack its end, because it is being written. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\]:,]|[^\s{}[\]:,"]+/g;

type Level = { readonly isList: boolean; name: string; isValue: boolean };
type Place = { readonly path: string; readonly isName: boolean; readonly written: string };

const placeAt = (text: string, at: number): Place | null => {
  const levels: Level[] = [];
  let written = "";
  for (const match of text.slice(0, at).matchAll(TOKEN)) {
    const [token] = match;
    const level = levels.at(-1);
    written = "";
    if (token === "{" || token === "[") {
      const isList = token === "[";
      levels.push({ isList, name: isList ? "0" : "", isValue: isList });
    } else if (token === "}" || token === "]") levels.pop();
    else if (level === undefined) continue;
    else if (token === ":") level.isValue = true;
    else if (token === ",") {
      if (!level.isList) Object.assign(level, { name: "", isValue: false });
    } else {
      const isOpen = match.index + token.length === at && (token === '"' || !token.endsWith('"'));
      written = isOpen ? token : "";
      if (!level.isValue && !isOpen) level.name = token.replaceAll('"', "");
    }
  }
  const last = levels.at(-1);
  if (last === undefined) return null;
  const isName = !last.isValue;
  if (isName && last.name !== "") return null;
  const path = (isName ? levels.slice(0, -1) : levels).map(({ name }) => `/${name}`).join("");
  return { path, isName, written };
};

export type Offer = {
  readonly kind: "name" | "variable";
  /** Where what is already written of the name begins. */
  readonly from: number;
  /** Each with the kind of its value. */
  readonly names: Names;
};

const variablesFor = (expression: string, at: number): Offer | null => {
  // An odd number of quotes: the cursor is in a text of the expression.
  if ((expression.split("'").length - 1) % 2 === 1) return null;
  const [written = ""] = /[A-Za-z_][\w.]*$/.exec(expression) ?? [];
  const dot = written.lastIndexOf(".");
  const names = dot === -1 ? VARIABLES : MEMBERS[written.slice(0, dot)];
  return names === undefined ? null : { kind: "variable", from: at - written.length + dot + 1, names };
};

/** What may stand at the cursor; null if nothing is known of it. */
export const offerAt = (text: string, at: number): Offer | null => {
  const place = placeAt(text, at);
  if (place === null) return null;
  const { path, isName, written } = place;
  if (!isName) return CONDITIONS.includes(path) && written.startsWith('"') ? variablesFor(written.slice(1), at) : null;
  const names = NAMES[path];
  return names === undefined ? null : { kind: "name", from: at - written.replace('"', "").length, names };
};
