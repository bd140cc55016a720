import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { removeFolder, temporaryFolder, until } from "./program.ts";

/** What a Chromium is called on the systems that people use; `BROWSER_BINARY` names another, or none if it is empty. */
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const LIMIT_MS = 60_000;
/** A folder within the profile. */
const DOWNLOADS = "downloads";
/** Chromium's words for an evaluation in a page that was replaced meanwhile. */
const REPLACED = "Inspected target navigated or closed";
/** To write its profile; it is killed after that. */
const CLOSE_MS = 5_000;
/** No sandbox: containers have no user namespaces, and what is opened is our own. The network is asked for nothing else. */
const FLAGS = [
  "--headless",
  "--disable-gpu",
  "--no-sandbox",
  "--no-first-run",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  // With it, Chromium 156 does not use the code that it has compiled at earlier loads.
  "--disable-features=BackgroundResourceFetch",
  "--remote-debugging-pipe",
];

/** The browser to test with; null without one. */
export const browserHere = (): string | null => {
  const isThere = (name: string): boolean => {
    try {
      execFileSync(name, ["--version"], { stdio: "ignore", timeout: LIMIT_MS });
      return true;
    } catch {
      return false;
    }
  };
  const named = process.env.BROWSER_BINARY;
  return (named === undefined ? NAMES.find(isThere) : named) || null;
};

type Fields = Readonly<Record<string, unknown>>;
type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly message: string };
  /** Of the tab that an event comes from. */
  readonly sessionId?: string;
};

/** The Chrome DevTools Protocol over pipes: JSON, each message ended by a NUL byte. */
const connection = (input: Writable, output: Readable, onEvent: (event: Message) => void) => {
  const waiting = new Map<number, (message: Message) => void>();
  let calls = 0;
  let unread = "";
  let hasEnded = false;
  // A browser that was killed ends both with an error; whoever waits for an answer learns of it.
  for (const pipe of [input, output]) pipe.on("error", () => undefined);
  output.on("close", () => {
    hasEnded = true;
    for (const [id, end] of waiting) end({ id, error: { message: "the browser has ended" } });
  });
  output.setEncoding("utf8");
  output.on("data", (chunk: string) => {
    const messages = (unread + chunk).split("\0");
    unread = messages.pop() ?? "";
    for (const text of messages) {
      // What the protocol's description says.
      const message = JSON.parse(text) as Message;
      if (message.id === undefined) onEvent(message);
      else waiting.get(message.id)?.(message);
    }
  });
  return (method: string, params: Fields = {}, sessionId?: string): Promise<Fields> =>
    new Promise((resolve, reject) => {
      calls += 1;
      const id = calls;
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id);
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
      if (hasEnded) return waiting.get(id)?.({ id, error: { message: "the browser has ended" } });
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`);
    });
};

/** Memory of a process that no other one shares (proc(5), Linux); null on other systems. */
const privateBytes = (id: number): number | null => {
  const path = `/proc/${id}/status`;
  const kib = existsSync(path) ? /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(path, "utf8"))?.[1] : undefined;
  return kib === undefined ? null : Number(kib) * 1_024;
};

/** What a page did that it must not do: one line each. */
const faultOf = (method: string, params: Fields): string | null => {
  if (method === "Page.javascriptDialogOpening") return `dialog: ${params.message}`;
  if (method === "Runtime.exceptionThrown") return `exception: ${JSON.stringify(params.exceptionDetails)}`;
  if (method !== "Log.entryAdded") return null;
  // As the protocol describes it. Answers of 4xx are logged, too, under "network".
  const { source, level, text } = params.entry as { source: string; level: string; text: string };
  return level === "error" && source !== "network" ? `${source}: ${text}` : null;
};

/** In the page: what people see there and can use, found by what it says. */
const FINDING = `
const isSeen = (it) => it.checkVisibility({ visibilityProperty: true }) && it.getClientRects().length > 0;
const said = (it) => (it.innerText ?? "").replace(/\\s+/g, " ").trim();
const all = (within, what) => [...(document.querySelector(within)?.querySelectorAll(what) ?? [])].filter(isSeen);
const control = (within, label) => {
  const found = all(within, "label").find((it) => said(it.querySelector("span") ?? it) === label);
  return found?.querySelector("input, select, textarea") ?? null;
};
const press = (within, name) => {
  const found = all(within, "button, a, summary").find((it) => said(it) === name && !it.disabled);
  if (found === undefined) return false;
  found.scrollIntoView({ block: "center", inline: "center" });
  const [{ left, top, width, height }] = found.getClientRects();
  // Nothing lies over it.
  if (!found.contains(document.elementFromPoint(left + width / 2, top + height / 2))) return false;
  found.click();
  return true;
};`;

/** Text whose contrast is below 4.5 : 1 (WCAG 2.2, success criterion 1.4.3), with its ratio. */
const PALE = `(() => {
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const over = (colours) => {
  canvas.globalAlpha = 1;
  for (const [colour, alpha] of colours) { canvas.globalAlpha = alpha; canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const light = (rgb) => rgb.map((it) => it / 255).map((it) => it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4)
  .reduce((sum, it, at) => sum + it * [0.2126, 0.7152, 0.0722][at], 0);
const page = matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#ffffff";
const pale = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const it = walk.currentNode.parentElement;
  if (!walk.currentNode.data.trim() || !it.checkVisibility({ visibilityProperty: true }) || it.closest("option")) continue;
  const above = [];
  for (let at = it; at !== null; at = at.parentElement) above.unshift(getComputedStyle(at));
  const behind = [[page, 1], ...above.map((style) => [style.backgroundColor, 1])];
  const opacity = above.reduce((product, style) => product * Number(style.opacity), 1);
  const [back, front] = [over(behind), over([...behind, [getComputedStyle(it).color, opacity]])].map(light);
  const ratio = (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05);
  if (ratio < 4.5) pale.push(ratio.toFixed(2) + " " + walk.currentNode.data.trim());
}
return pale; })()`;

type Shape = {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** The size of text that the person has set in the browser. */
  readonly fontPx?: number;
  /** Media features that the person asks for, such as `prefers-reduced-motion`. */
  readonly media?: Readonly<Record<string, string>>;
  /** True: as it is put on paper. */
  readonly isPrinted?: boolean;
};

/** A page, used as people do: by what is seen on it. Everything waits until it is there. */
export type BrowserTab = {
  open(url: string): Promise<void>;
  /** Runs a script in each page that is opened from now on, before the page's own. */
  early(script: string): Promise<void>;
  evaluate<T>(expression: string): Promise<T>;
  /** All that can be read on it. */
  text(): Promise<string>;
  shows(text: string): Promise<void>;
  hides(text: string): Promise<void>;
  /** All that can be read on it, with single spaces, matches: for sentences whose figures differ from run to run. */
  reads(pattern: RegExp): Promise<void>;
  /** A button, link or summary by its whole text; `within` is a CSS selector. */
  click(name: string, within?: string): Promise<void>;
  /** Moves the pointer onto what assistive technology calls so, and presses its button; nothing may lie over it. */
  press(role: string, name: string | RegExp): Promise<void>;
  /** A field by its label. */
  fill(label: string, value: string, within?: string): Promise<void>;
  /** Chooses files of this machine in a field, which is found by a CSS selector. */
  choose(selector: string, paths: readonly string[]): Promise<void>;
  key(key: keyof typeof KEYS): Promise<void>;
  /** Types into what has the focus, letter by letter. */
  write(text: string): Promise<void>;
  /** Moves the pointer to a place on the screen. */
  pointAt(x: number, y: number): Promise<void>;
  /** Drags what the CSS selector finds so many pixels to the right. */
  dragged(selector: string, byPx: number): Promise<void>;
  /** Shows this tab; one behind another is hidden, and draws nothing. */
  toFront(): Promise<void>;
  /** A processor that is so many times slower, and a network with this delay of each answer and this rate. */
  slowed(by: { readonly processor: number; readonly latencyMs: number; readonly bytesPerS: number }): Promise<void>;
  /** Empties the browser's cache. */
  forgets(): Promise<void>;
  /** Cuts the network of the page, or gives it back; connections that are open end. */
  offline(isOffline: boolean): Promise<void>;
  /** Ends what the protocol keeps of each request and element, which would count as the page's own memory. */
  unobserved(): Promise<void>;
  /** Ends the tree for assistive technology, which takes time with each change of the page. */
  unread(): Promise<void>;
  /** What its scripts keep, after a collection of garbage. */
  heapBytes(): Promise<number>;
  /** The private memory of the largest process that draws pages; null where the system does not tell. */
  processBytes(): Promise<number | null>;
  shaped(shape: Shape): Promise<void>;
  /** Text that is hard to read, each with its contrast. */
  pale(): Promise<readonly string[]>;
  /** Buttons and fields that have no name for those who do not see them. */
  nameless(): Promise<readonly string[]>;
  screenshot(path: string): Promise<void>;
  /** The text of a file that the page has saved, once all of it is there. */
  downloaded(name: string): Promise<string>;
  /** Dialogs, exceptions and violations of the page's policy so far. */
  faults(): readonly string[];
  /** The origins of everything that was asked for. */
  origins(): ReadonlySet<string>;
  close(): Promise<void>;
};

/** The first page of a browser; the browser closes with it. */
export type BrowserPage = BrowserTab & {
  tab(): Promise<BrowserTab>;
};

const KEYS = {
  Tab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 },
  Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
  Space: { key: " ", code: "Space", windowsVirtualKeyCode: 32, text: " " },
  Backspace: { key: "Backspace", code: "Backspace", windowsVirtualKeyCode: 8 },
  Escape: { key: "Escape", code: "Escape", windowsVirtualKeyCode: 27 },
  Home: { key: "Home", code: "Home", windowsVirtualKeyCode: 36 },
  End: { key: "End", code: "End", windowsVirtualKeyCode: 35 },
  ArrowLeft: { key: "ArrowLeft", code: "ArrowLeft", windowsVirtualKeyCode: 37 },
  ArrowRight: { key: "ArrowRight", code: "ArrowRight", windowsVirtualKeyCode: 39 },
  ArrowUp: { key: "ArrowUp", code: "ArrowUp", windowsVirtualKeyCode: 38 },
  ArrowDown: { key: "ArrowDown", code: "ArrowDown", windowsVirtualKeyCode: 40 },
} as const;

/** What a browser says of a person who asks for nothing. */
const NO_WISHES = { "prefers-reduced-motion": "", "prefers-contrast": "", "forced-colors": "" };

const CONTROLS: ReadonlySet<unknown> = new Set(["button", "link", "textbox", "searchbox", "combobox", "spinbutton"]);

/** In the page: the middle of an element on the screen, unless something lies over it. */
const MIDDLE = `function () {
  if (this.matches(":disabled")) return null;
  this.scrollIntoView({ block: "center", inline: "center" });
  const [box] = this.getClientRects();
  if (box === undefined) return null;
  const at = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  const top = document.elementFromPoint(at.x, at.y);
  const label = top?.closest("label") ?? null;
  return this.contains(top) || (label !== null && label.control === this) ? at : null;
}`;

type AxNode = {
  readonly ignored: boolean;
  readonly backendDOMNodeId?: number;
  readonly role?: { readonly value: unknown };
  readonly name?: { readonly value: unknown };
};

export const openBrowser = async (binary: string): Promise<BrowserPage> => {
  const profile = temporaryFolder();
  const child = spawn(binary, [...FLAGS, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    // A group of its own: the processes that it starts end with it.
    detached: true,
  });
  const ended = once(child, "close");
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, "SIGKILL");
    }
  };
  process.on("exit", kill);
  const faults: string[] = [];
  const origins = new Set<string>();
  // The pipes that `stdio` asks for.
  const [input, output] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  const call = connection(input, output, ({ method = "", params = {}, sessionId }) => {
    const fault = faultOf(method, params);
    if (fault !== null) faults.push(fault);
    if (method === "Page.javascriptDialogOpening")
      void call("Page.handleJavaScriptDialog", { accept: false }, sessionId);
    if (method !== "Network.requestWillBeSent") return;
    const { origin, protocol } = new URL((params.request as { url: string }).url);
    // The browser draws its own fields for dates with pictures that are in their addresses.
    if (protocol !== "data:") origins.add(origin);
  });
  await call("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: join(profile, DOWNLOADS) });
  const opened: Opened = { call, profile, faults, origins };
  const closeBrowser = async (): Promise<void> => {
    const timer = setTimeout(kill, CLOSE_MS);
    await Promise.race([call("Browser.close").catch(() => undefined), ended]);
    await ended;
    clearTimeout(timer);
    process.off("exit", kill);
    removeFolder(profile);
  };
  return { ...(await tabOf(opened)), tab: () => tabOf(opened), close: closeBrowser };
};

type Opened = {
  readonly call: ReturnType<typeof connection>;
  readonly profile: string;
  readonly faults: readonly string[];
  readonly origins: ReadonlySet<string>;
};

/** What a page can do without; they keep more, the longer it is open. */
const OBSERVING = ["Log", "Network", "Accessibility"];

/** One more page of a browser, which shares its cookies, its storage and its faults with the others. */
const tabOf = async ({ call, profile, faults, origins }: Opened): Promise<BrowserTab> => {
  const { targetId } = await call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
  const send = (method: string, params: Fields = {}) => call(method, params, String(sessionId));
  for (const domain of ["Page", "Runtime", ...OBSERVING]) await send(`${domain}.enable`);

  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    // The caller knows what its expression comes to.
    return (result as { value: T }).value;
  };
  const inPage = (expression: string) => evaluate<boolean>(`(() => {${FINDING}\nreturn ${expression}; })()`);
  const text = () => evaluate<string>("document.body?.innerText ?? ''");
  /** A page that is being replaced answers with an error; the next look finds the new one. */
  const unlessReplaced = <T>(look: () => Promise<T>, otherwise: T): Promise<T> =>
    look().catch((error: unknown) => {
      if (String(error).includes(REPLACED)) return otherwise;
      throw error;
    });
  const seen = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    try {
      await until(what, () => unlessReplaced(holds, false));
    } catch (error) {
      throw new Error(`${error}; the page shows: ${await unlessReplaced(text, "")}`);
    }
  };

  const middleOf = async (backendNodeId: number): Promise<{ readonly x: number; readonly y: number } | null> => {
    const { object } = await send("DOM.resolveNode", { backendNodeId });
    const { objectId } = object as { objectId: string };
    const called = await send("Runtime.callFunctionOn", { objectId, functionDeclaration: MIDDLE, returnByValue: true });
    return (called.result as { value: { x: number; y: number } | null }).value;
  };
  /** What assistive technology finds under a role. */
  const namesOf = async (role: string): Promise<readonly string[]> => {
    const { nodes } = await send("Accessibility.getFullAXTree");
    return (nodes as readonly AxNode[])
      .filter((it) => !it.ignored && it.role?.value === role)
      .map(({ name }) => String(name?.value ?? ""));
  };
  const pressOnce = async (role: string, name: string | RegExp): Promise<boolean> => {
    const { nodes } = await send("Accessibility.getFullAXTree");
    const found = (nodes as readonly AxNode[]).find((it) => {
      const called = String(it.name?.value ?? "");
      return !it.ignored && it.role?.value === role && (typeof name === "string" ? called === name : name.test(called));
    });
    // An element that was replaced since the tree was read is looked for again.
    const at = found?.backendDOMNodeId === undefined ? null : await middleOf(found.backendDOMNodeId).catch(() => null);
    if (at === null) return false;
    const pointer = { ...at, button: "left", clickCount: 1 };
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
      await send("Input.dispatchMouseEvent", { ...pointer, type });
    return true;
  };

  const toFront = async (): Promise<void> => {
    await send("Page.bringToFront");
  };

  return {
    evaluate,
    text,
    toFront,
    async open(url) {
      await toFront();
      await send("Page.navigate", { url });
      await until("the page is loaded", () =>
        unlessReplaced(() => evaluate<boolean>("document.readyState === 'complete'"), false),
      );
    },
    async early(source) {
      await send("Page.addScriptToEvaluateOnNewDocument", { source });
    },
    shows: (what) => seen(`the page shows ${what}`, async () => (await text()).includes(what)),
    async reads(pattern) {
      let read = "";
      try {
        await until("it is said", async () => {
          read = (await text()).replace(/\s+/g, " ");
          return pattern.test(read);
        });
      } catch (error) {
        throw new Error(`${error}; ${pattern} is not in: ${read}`);
      }
    },
    hides: (what) => seen(`the page does not show ${what}`, async () => !(await text()).includes(what)),
    click: (name, within = "body") =>
      seen(`${name} can be clicked`, () => inPage(`press(${JSON.stringify(within)}, ${JSON.stringify(name)})`)),
    async press(role, name) {
      try {
        await until(`the ${role} ${name} can be pressed`, () => unlessReplaced(() => pressOnce(role, name), false));
      } catch (error) {
        throw new Error(`${error}; each ${role} there: ${JSON.stringify(await namesOf(role))}`);
      }
    },
    fill: (label, value, within = "body") =>
      seen(`${label} can be filled in`, () =>
        inPage(`((it) => {
          if (it === null) return false;
          it.focus();
          it.value = ${JSON.stringify(value)};
          return it.value === ${JSON.stringify(value)};
        })(control(${JSON.stringify(within)}, ${JSON.stringify(label)}))`),
      ),
    async choose(selector, files) {
      const { root } = await send("DOM.getDocument");
      const { nodeId } = await send("DOM.querySelector", { nodeId: (root as { nodeId: number }).nodeId, selector });
      await send("DOM.setFileInputFiles", { nodeId, files });
    },
    async key(key) {
      await send("Input.dispatchKeyEvent", { type: "keyDown", ...KEYS[key] });
      await send("Input.dispatchKeyEvent", { type: "keyUp", ...KEYS[key] });
    },
    async write(letters) {
      for (const letter of letters) {
        await send("Input.dispatchKeyEvent", { type: "keyDown", key: letter, text: letter });
        await send("Input.dispatchKeyEvent", { type: "keyUp", key: letter });
      }
    },
    async pointAt(x, y) {
      await send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
    },
    async dragged(selector, byPx) {
      const found = `document.querySelector(${JSON.stringify(selector)})`;
      const at = await evaluate<{ x: number; y: number }>(`(() => {
        ${found}.scrollIntoView({ block: "center" });
        const box = ${found}.getBoundingClientRect();
        return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
      })()`);
      const pointer = { ...at, button: "left", clickCount: 1 };
      await send("Input.dispatchMouseEvent", { ...pointer, type: "mouseMoved", button: "none" });
      await send("Input.dispatchMouseEvent", { ...pointer, type: "mousePressed" });
      await send("Input.dispatchMouseEvent", { ...pointer, x: at.x + byPx, type: "mouseMoved", buttons: 1 });
      await send("Input.dispatchMouseEvent", { ...pointer, x: at.x + byPx, type: "mouseReleased" });
    },
    async slowed({ processor, latencyMs, bytesPerS }) {
      await send("Emulation.setCPUThrottlingRate", { rate: processor });
      const throughput = { downloadThroughput: bytesPerS, uploadThroughput: bytesPerS };
      await send("Network.emulateNetworkConditions", { offline: false, latency: latencyMs, ...throughput });
    },
    async forgets() {
      await send("Network.clearBrowserCache");
    },
    async offline(isOffline) {
      const unlimited = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
      await send("Network.emulateNetworkConditions", { offline: isOffline, ...unlimited });
    },
    async unobserved() {
      for (const domain of OBSERVING) await send(`${domain}.disable`);
    },
    async unread() {
      await send("Accessibility.disable");
    },
    async processBytes() {
      const { processInfo } = await call("SystemInfo.getProcessInfo");
      const all = processInfo as readonly { readonly type: string; readonly id: number }[];
      const sizes = all.filter(({ type }) => type === "renderer").map(({ id }) => privateBytes(id));
      return sizes.includes(null) ? null : Math.max(0, ...sizes.map(Number));
    },
    async heapBytes() {
      await send("HeapProfiler.collectGarbage");
      return Number((await send("Runtime.getHeapUsage")).usedSize);
    },
    async shaped({ width = 1_280, height = 800, dark = false, fontPx = 16, media = {}, isPrinted = false }) {
      await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
      await send("Page.setFontSizes", { fontSizes: { standard: fontPx, fixed: Math.round(fontPx * 0.8) } });
      const wanted = { ...NO_WISHES, "prefers-color-scheme": dark ? "dark" : "light", ...media };
      const features = Object.entries(wanted).map(([name, value]) => ({ name, value }));
      await send("Emulation.setEmulatedMedia", { media: isPrinted ? "print" : "", features });
    },
    pale: () => evaluate(PALE),
    async nameless() {
      const { nodes } = await send("Accessibility.getFullAXTree");
      return (nodes as readonly AxNode[])
        .filter(({ ignored, role, name }) => !ignored && CONTROLS.has(role?.value) && !name?.value)
        .map(({ role }) => String(role?.value));
    },
    async screenshot(path) {
      const { data } = await send("Page.captureScreenshot", { captureBeyondViewport: true });
      writeFileSync(path, Buffer.from(String(data), "base64"));
    },
    async downloaded(name) {
      const path = join(profile, DOWNLOADS, name);
      // The browser gives a file its name when it is whole.
      await until(`${name} is saved`, () => existsSync(path));
      return readFileSync(path, "utf8");
    },
    faults: () => faults,
    origins: () => origins,
    async close() {
      await call("Target.closeTarget", { targetId });
    },
  };
};
