/** The parts of a .cpuprofile that are read (Chrome DevTools Protocol, `Profiler.Profile`). */
export type CpuProfile = {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
  /** Nanoseconds that the thread was on a processor meanwhile, by the system's count; 0 if it does not tell. */
  readonly processorNs?: number;
};

type SelfTime = { readonly name: string; readonly place: string; readonly ms: number };

export type SelfTimes = {
  /** Milliseconds in which the thread was not idle; it may have waited in a system call. */
  readonly busyMs: number;
  /** Longest first. */
  readonly functions: readonly SelfTime[];
};

const IDLE = "(idle)";

const placeOf = (url: string, line: number, root: string): string => {
  if (url === "") return "";
  const path = url.replace("file://", "").replace(root, "");
  return line < 0 ? path : `${path}:${line + 1}`;
};

/** Time in each function itself, without the functions that it calls. Places are paths below `root`. */
export const selfTimesOf = ({ nodes, samples, timeDeltas }: CpuProfile, root: string): SelfTimes => {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const functions = new Map<string, SelfTime>();
  let busyMs = 0;
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    // A sample stands for the time until the next one.
    const ms = Math.max(0, timeDeltas[index + 1] ?? 0) / 1_000;
    if (frame === undefined || frame.functionName === IDLE) return;
    busyMs += ms;
    const place = placeOf(frame.url, frame.lineNumber, root);
    const name = frame.functionName === "" ? "(anonymous)" : frame.functionName;
    const known = functions.get(`${name} ${place}`);
    functions.set(`${name} ${place}`, { name, place, ms: (known?.ms ?? 0) + ms });
  });
  return { busyMs, functions: [...functions.values()].sort((a, b) => b.ms - a.ms) };
};

/** Of these no code can be blamed by its stack: they are divided as all other time is. */
const SHARED: ReadonlySet<string> = new Set([IDLE, "(garbage collector)", "(program)"]);

/** The share of the thread's time in which a function of these files ran, or one that such a function had called. */
export const shareOf = ({ nodes, samples, timeDeltas }: CpuProfile, isOwn: (url: string) => boolean): number => {
  const all = new Map(nodes.map((node) => [node.id, node]));
  const own = new Set<number>();
  const mark = (id: number): void => {
    own.add(id);
    for (const child of all.get(id)?.children ?? []) mark(child);
  };
  for (const { id, callFrame } of nodes) if (!own.has(id) && isOwn(callFrame.url)) mark(id);
  let [ownUs, allUs] = [0, 0];
  samples.forEach((id, index) => {
    const us = Math.max(0, timeDeltas[index + 1] ?? 0);
    if (SHARED.has(all.get(id)?.callFrame.functionName ?? IDLE)) return;
    allUs += us;
    if (own.has(id)) ownUs += us;
  });
  return allUs === 0 ? 0 : ownUs / allUs;
};
