/** The page `verify.html`: takes files and keys, has a worker check them, and shows the report in the command's words. */
import type { Verdict } from "../../src/verifier/index.ts";
import type { Answer, Question } from "./messages.ts";

const part = <T extends Element>(id: string): T => {
  const found = document.querySelector<T>(`#${id}`);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
};

const form = part<HTMLFormElement>("form");
const drop = part<HTMLElement>("drop");
const files = part<HTMLInputElement>("files");
const chosen = part<HTMLElement>("chosen");
const previous = part<HTMLInputElement>("previous");
const keys = part<HTMLTextAreaElement>("keys");
const witnesses = part<HTMLTextAreaElement>("witnesses");
const stop = part<HTMLButtonElement>("stop");
const check = part<HTMLButtonElement>("check");
const progress = part<HTMLProgressElement>("progress");
const result = part<HTMLElement>("result");

/** Chromium asks for a policy before text becomes a script's address; the other browsers have none. */
type TrustedTypes = {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
};
const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
const policy = trustedTypes?.createPolicy("countersign-verify", { createScriptURL: (url) => url });

const startWorker = (): Worker => {
  const url = URL.createObjectURL(new Blob([part("worker").textContent ?? ""], { type: "text/javascript" }));
  return new Worker(policy?.createScriptURL(url) ?? url);
};

/** An export is read twice: for its outline, and for its records. */
const READINGS = 2;
const MEGABYTE = 1_000_000;

const linesOf = ({ value }: HTMLTextAreaElement): readonly string[] =>
  value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

let running: Worker | null = null;

const ended = (): void => {
  running?.terminate();
  running = null;
  [check.hidden, stop.hidden, progress.hidden] = [false, true, true];
};

/** Texts come from the file, so they are only ever put into the page as text. */
const show = (state: Verdict | "failure" | "stopped", lines: readonly string[]): void => {
  const [first = "", ...others] = lines;
  const title = document.createElement("h2");
  const word = document.createElement("strong");
  const [verdict = "", ...rest] = first.split(":");
  word.textContent = rest.length === 0 ? first : verdict;
  title.append(word);
  const list = document.createElement("ul");
  for (const line of [rest.join(":").trim(), ...others].filter((it) => it !== "")) {
    const item = document.createElement("li");
    item.textContent = line;
    list.append(item);
  }
  result.dataset.state = state;
  result.replaceChildren(title, list);
  result.hidden = false;
};

const onAnswer = (answer: Answer): void => {
  if (answer.kind === "progress") {
    progress.value = answer.bytes;
    return;
  }
  ended();
  if (answer.kind === "report") show(answer.verdict, answer.lines);
  else show("failure", ["NOT CHECKED: the check could not be done.", answer.reason]);
};

const begin = (question: Question): void => {
  ended();
  result.hidden = true;
  [check.hidden, stop.hidden, progress.hidden] = [true, false, false];
  progress.max = Math.max(1, READINGS * question.files.reduce((total, { size }) => total + size, 0));
  progress.value = 0;
  running = startWorker();
  running.onmessage = ({ data }: MessageEvent<Answer>) => onAnswer(data);
  running.onerror = (event) => onAnswer({ kind: "failure", reason: event.message });
  running.postMessage(question);
};

const showChosen = (): void => {
  const all = [...(files.files ?? [])];
  chosen.textContent =
    all.length === 0
      ? "No file is chosen."
      : all.map(({ name, size }) => `${name} (${(size / MEGABYTE).toFixed(size < MEGABYTE ? 3 : 1)} MB)`).join(", ");
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const chosenFiles = [...(files.files ?? [])];
  if (chosenFiles.length === 0) return show("failure", ["NOT CHECKED: choose the file to check first."]);
  begin({
    files: chosenFiles,
    previous: [...(previous.files ?? [])],
    keys: linesOf(keys),
    witnesses: linesOf(witnesses),
  });
});

stop.addEventListener("click", () => {
  ended();
  show("stopped", ["STOPPED: nothing is said about the file."]);
});

files.addEventListener("change", showChosen);
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.classList.add("over");
});
document.addEventListener("dragleave", () => drop.classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
  files.files = event.dataTransfer.files;
  showChosen();
});

showChosen();
