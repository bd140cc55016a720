import { useEffect, useState } from "preact/hooks";
import { shortId } from "../../design/format.ts";
import { Layer } from "../../design/layer.tsx";
import { Palette, type PaletteEntry } from "../../design/palette.tsx";
import { stateOf } from "../../design/states.ts";
import { type AnswerOf, call, me } from "../api/api.ts";
import { navGroups } from "./pages.ts";
import { go } from "./router.ts";

type Hit = AnswerOf<"GET /v1/search">["data"][number];

/** Where the page of a thing is, by its kind. */
const PLACES: Readonly<Record<string, (hit: Hit) => readonly [icon: string, href: string]>> = {
  event: ({ id }) => ["events", `/events/${id}`],
  approval: ({ id }) => ["approvals", `/approvals/${id}`],
  bundle: ({ id }) => ["bundles", `/bundles/${id}`],
  replay: ({ id }) => ["replays", `/replays/${id}`],
  source: ({ id }) => ["sources", `/sources/${id}`],
  endpoint: ({ id }) => ["endpoints", `/endpoints/${id}`],
  agent: ({ id }) => ["agents", `/agents/${id}`],
  policy: ({ id }) => ["policies", `/policies/${id}`],
  action: ({ id, name }) => ["agents", `/agents/actions/${encodeURIComponent(name ?? id)}`],
  member: () => ["settings", "/settings/members"],
  key: () => ["settings", "/settings/keys"],
};
/** Between the last letter and the question. */
const PAUSE_MS = 120;

const isIn = (name: string, text: string): boolean => name.toLowerCase().includes(text.toLowerCase());

const thing = (hit: Hit): readonly PaletteEntry[] => {
  const found = PLACES[hit.kind]?.(hit);
  if (found === undefined) return [];
  const [icon, href] = found;
  const state = hit.state === null ? "" : ` · ${stateOf(hit.state).word.toLowerCase()}`;
  return [
    {
      ...{ key: hit.id, icon, name: hit.name ?? shortId(hit.id), beside: `${hit.kind}${state}`, group: "Things" },
      onChoose: () => go(href),
    },
  ];
};

const ACTS = [
  { icon: "sources", name: "Add a source", href: "/sources/new" },
  { icon: "endpoints", name: "Add an endpoint", href: "/endpoints/new" },
  { icon: "agents", name: "Add an agent", href: "/agents/new" },
  { icon: "policies", name: "Write a policy", href: "/policies/new" },
  { icon: "agents", name: "Suspend an agent…", href: "/agents" },
] as const;

const SUSPEND = /^suspend(\s+|$)/i;
/** As many agents as are offered to a member who names none. */
const AGENTS_MAX = 10;

/** What this member may do with an agent that was found: the confirmation is on its page. */
const actsOn = ({ kind, id, name, state }: Hit): readonly PaletteEntry[] =>
  kind === "agent" && state !== "suspended"
    ? [
        {
          ...{ key: `suspend ${id}`, icon: "agents", name: `Suspend ${name ?? shortId(id)}…`, beside: "its page" },
          ...{ group: "Acts", onChoose: () => go(`/agents/${id}`) },
        },
      ]
    : [];

const entriesFor = (text: string, hits: readonly Hit[], mayAct: boolean): readonly PaletteEntry[] => {
  const pages = navGroups()
    .flatMap((it) => it.items)
    .filter(({ title }) => isIn(title, text))
    .map(({ section: icon, title, key }) => ({
      ...{ key: icon, icon, name: title, beside: `g ${key}`, group: "Pages" },
      onChoose: () => go(`/${icon}`),
    }));
  const acts = ACTS.filter(({ name }) => mayAct && text !== "" && isIn(name, text)).map(({ icon, name, href }) => ({
    ...{ key: name, icon, name, beside: "", group: "Acts" },
    onChoose: () => go(href),
  }));
  return [...hits.flatMap(thing), ...pages, ...(mayAct ? hits.flatMap(actsOn) : []), ...acts];
};

/** Things by a part of their name, or by an id. */
const search = async (text: string): Promise<readonly Hit[]> => {
  const answer = await call("GET /v1/search", { query: { q: text } });
  return answer.ok ? answer.body.data : [];
};

const anyAgents = async (): Promise<readonly Hit[]> => {
  const answer = await call("GET /v1/agents", { query: { limit: AGENTS_MAX } });
  return answer.ok ? answer.body.data.map(({ id, name, status }) => ({ kind: "agent", id, name, state: status })) : [];
};

/** What "suspend" alone finds: the things with that name and, for members who may suspend one, some agents. */
const suspendHits = async (text: string, mayAct: boolean): Promise<readonly Hit[]> => {
  const all = await Promise.all([search(text), mayAct ? anyAgents() : []]);
  return [...new Map(all.flat().map((hit) => [hit.id, hit])).values()];
};

/** What a text finds. An answer to an older text is not shown. */
const useHits = (text: string, mayAct: boolean): readonly Hit[] => {
  const [found, setFound] = useState<{ readonly text: string; readonly hits: readonly Hit[] }>({ text: "", hits: [] });
  useEffect(() => {
    if (text === "") return;
    let isGone = false;
    const timer = setTimeout(() => {
      // "suspend helper" is what "Suspend helper…" is found by as well.
      const name = text.replace(SUSPEND, "");
      void (name === "" ? suspendHits(text, mayAct) : search(name)).then((hits) => {
        if (!isGone) setFound({ text, hits });
      });
    }, PAUSE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [text, mayAct]);
  return text === "" ? [] : found.hits;
};

/** One field over everything. */
export const Jump = ({ onClose }: { readonly onClose: () => void }) => {
  const [text, setText] = useState("");
  const asked = text.trim();
  const mayAct = ["owner", "admin"].includes(me.value?.member.role ?? "");
  const hits = useHits(asked, mayAct);
  return <Palette find={setText} entries={entriesFor(asked, hits, mayAct)} onClose={onClose} />;
};

const KEYS = [
  [["/"], "Focus the page's search"],
  [["⌘K", "Ctrl K"], "Search or jump to"],
  [["g"], "Then the letter of a page, which the search shows: go there"],
  [["j", "k"], "Next row, previous row"],
  [["Enter", "o"], "Open the row"],
  [["x"], "Select the row"],
  [["."], "Show the new rows"],
  [["a", "r", "c"], "An open approval: begin to approve, begin to reject, comment"],
  [["[", "]"], "An event: previous attempt, next attempt"],
  [["f", "t", "y"], "An event: search in the payload, its timeline as a table, copy the id"],
  [["v"], "Audit: check the proof of the record again"],
  [["Esc"], "Close the top layer, or leave the field"],
] as const;

export const AllKeys = ({ onClose }: { readonly onClose: () => void }) => (
  <Layer label="All keys" kind="sheet" onClose={onClose}>
    <div class="stack tight">
      <h3>All keys</h3>
      <dl class="facts">
        {KEYS.map(([keys, what]) => (
          <>
            <dt class="row tight">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <div class="row">
        <button class="btn end" type="button" autofocus onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  </Layer>
);
