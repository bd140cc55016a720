import type { ComponentChildren } from "preact";
import { LoadError, Loading } from "../../design/placeholders.tsx";
import { type Column, DataTable, Pager } from "../../design/table.tsx";
import { Head, Zone } from "../../design/text.tsx";
import type { Rows } from "../shell/use-rows.ts";

/** The sections, each at `/settings/{name}`. */
export const SECTIONS = [
  { name: "members", title: "Members", text: "Who belongs to the account, in which role; invitations" },
  { name: "keys", title: "API keys", text: "What programs sign in with" },
  { name: "sessions", title: "Password and sessions", text: "Your password, and where you are signed in" },
  { name: "preferences", title: "Preferences", text: "Your colour scheme, row height and keys" },
  { name: "account", title: "Account", text: "Its name, time zone, plan and limits" },
  { name: "privacy", title: "Privacy", text: "How long content is kept, and what stays" },
] as const;

type FrameProps = {
  readonly name: (typeof SECTIONS)[number]["name"];
  readonly meta?: ComponentChildren;
  readonly children: ComponentChildren;
};

/** A section of the settings: its head, and the way to the other sections. */
export const SettingsFrame = ({ name, meta, children }: FrameProps) => (
  <>
    <Head
      title={SECTIONS.find((it) => it.name === name)?.title ?? "Settings"}
      meta={
        <>
          {meta}
          <Zone />
        </>
      }
    />
    <nav class="tabs desk" aria-label="Sections of the settings">
      {SECTIONS.map((it) => (
        <a key={it.name} href={`/settings/${it.name}`} aria-current={it.name === name ? "page" : undefined}>
          {it.title}
        </a>
      ))}
    </nav>
    {children}
  </>
);

type RowsTableProps<Row> = {
  readonly caption: string;
  readonly list: Rows<Row>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly empty: string;
};

export const RowsTable = <Row,>({ caption, list, columns, keyOf, empty }: RowsTableProps<Row>) => (
  <>
    {list.problem === null ? null : (
      <LoadError what={caption} failure={list.problem} since={list.since} onRetry={list.again} />
    )}
    {!list.isLoaded && list.problem === null ? <Loading rows={3} /> : null}
    {list.isLoaded && list.rows.length === 0 ? <p class="soft">{empty}</p> : null}
    {list.rows.length === 0 ? null : (
      <DataTable caption={caption} columns={columns} rows={list.rows} keyOf={keyOf} as="even" />
    )}
    {list.more === null ? null : <Pager shown={list.rows.length} onMore={list.more} isLoading={list.isLoading} />}
  </>
);
