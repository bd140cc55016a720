import type { ComponentChildren } from "preact";
import { ProofMark } from "../../design/mark.tsx";
import { Note } from "../../design/text.tsx";
import { Brand } from "../shell/brand.tsx";

const EXAMPLE = [
  ["48,201", "14:02:11", "refund-bot", "asked to refund €1,240.00", "witnessed"],
  ["48,202", "14:02:11", "support-refunds v7", "held it for a person", "witnessed"],
  ["48,206", "14:08:23", "Ana Ribeiro", "approved it", "witnessed"],
  ["48,212", "14:08:29", "Countersign", "delivered it, once", "sealed"],
  ["48,220", "14:08:29", "Countersign", "settled €1,240.00", "recorded"],
] as const;

/** What is wrong, in or in place of a form for those who are not signed in. */
export const Fault = ({ text }: { readonly text: string }) => (
  <Note role="fail" mark="failed" isAlert>
    <p>{text}</p>
  </Note>
);

/** The page around a form for those who are not signed in. */
export const Gate = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <div class="gate">
    <main class="left" id="main">
      <header>
        <Brand />
      </header>
      <div class="form">
        <h1>{title}</h1>
        {children}
      </div>
      <p class="meta row">
        <a href="/status">Status</a>
        <a href="/docs">API</a>
        <a href="/assets/licences.txt">Licences</a>
      </p>
    </main>
    <aside class="right" aria-label="Example of a history">
      <p class="soft lead">Every request has a line, every line a number, and every decision a signature.</p>
      <table class="t keep folio">
        <caption class="vh">An example history</caption>
        <thead>
          <tr>
            <th scope="col">Record</th>
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {EXAMPLE.map(([record, when, who, what, state]) => (
            <tr key={record}>
              <td>{record}</td>
              <td class="nw soft">{when}</td>
              <td>
                <b>{who}</b> {what}
              </td>
              <td>
                <ProofMark value={state} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </aside>
  </div>
);
