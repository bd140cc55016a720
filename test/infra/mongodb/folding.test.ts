import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import type { Document, ViewStore } from "../../../domain/ports/view-store.ts";
import { documentOf } from "../../../infra/mongodb/documents.ts";
import { type Collections, folding } from "../../../infra/mongodb/folding.ts";
import { schemasByName } from "../../../infra/view-schema.ts";
import { PROJECTIONS } from "../../../projections/all.ts";
import type { Projection } from "../../../projections/projection.ts";
import { stats } from "../../../projections/stats.ts";
import { type FollowedLog, ViewFollower } from "../../../src/views/view-follower.ts";
import { broadHistory } from "../../support/broad-history.ts";
import { crowdedLives, eventLives } from "../../support/event-lives.ts";
import { deliveryFacts, history } from "../../support/history.ts";
import { folded } from "../../support/projected.ts";
import { randomHistory } from "../../support/random-history.ts";
import { type SeededRandom, seededRandom } from "../../support/seeded-random.ts";
import { type Kept, nothingKept, type Step, stepwiseCollections } from "../../support/stepwise-collections.ts";

/** No transactions, any crash, any number of projectors: the documents are those of an undisturbed fold. */
const test = suite("folding without transactions");

type Folding = ReturnType<typeof folding>;
/** What an adapter gets wrong, in its collections or above them. */
type Breaking = {
  readonly collections?: (good: Collections, kept: Kept) => Partial<Collections>;
  readonly folding?: (good: Folding) => Partial<Folding>;
};
type Node = { readonly views: ViewStore };

const SCHEMAS = schemasByName(PROJECTIONS.map(({ schema }) => schema));
const unused = async (): Promise<never> => {
  throw new Error("a fold neither searches nor closes");
};

const node = (kept: Kept, step: Step, breaking: Breaking): Node => {
  const collections = stepwiseCollections(kept, step);
  const good = folding({ ...collections, ...breaking.collections?.(collections, kept) }, SCHEMAS);
  const parts = { ...good, ...breaking.folding?.(good) };
  return {
    views: { ...parts, get: unused, getMany: unused, page: unused, count: unused, next: unused, close: unused },
  };
};

/** Half of the documents that are in use at once, so that some come from memory and some from the store. */
const DOCUMENTS_MAX = 4;
const LOG_NAME = "a log";
const logOf = (events: readonly RecordedEvent[]): FollowedLog => ({
  identity: async () => LOG_NAME,
  async read(stream, after, limit) {
    const behind = events.filter((it) => it.stream === stream && it.revision > (after ?? -1));
    return behind.slice(0, limit);
  },
});
const WRITES_GIVEN_UP = 8;
/** Far more rounds than any history needs. */
const ROUNDS_MAX = 5_000;

class Crashed extends Error {}
/** The node has given up a write, which happens later. */
class Unanswered extends Error {}

/** Follows the log to its end with pages of `pageSize`; true when it got there, false when it crashed. */
const follow = async (
  { views }: Node,
  projection: Projection,
  log: readonly RecordedEvent[],
  pageSize: () => number,
  isOver: () => boolean = () => false,
): Promise<boolean> => {
  const follower = new ViewFollower(logOf(log), views, projection, DOCUMENTS_MAX);
  try {
    await follower.claim();
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const at = follower.position();
      const rest = log.filter(({ position }) => at === null || position > at);
      if (rest.length === 0 && (isOver() || round > 0)) {
        await follower.refresh();
        if (follower.position() === at) return true;
        continue;
      }
      await follower.advance(rest.slice(0, pageSize())).catch((error: unknown) => {
        if (!(error instanceof Unanswered)) throw error;
      });
    }
  } catch (error) {
    if (error instanceof Crashed) return false;
    throw error;
  }
  throw new Error(`${projection.schema.name} gets no further than ${follower.position()}`);
};

const contents = ({ documents }: Kept, view: string): Record<string, Document> => {
  const found: Record<string, Document> = {};
  for (const id of [...(documents.get(view)?.keys() ?? [])].sort()) {
    const stored = documents.get(view)?.get(id);
    const document = stored === undefined ? null : documentOf(stored);
    if (document !== null) found[id] = document;
  }
  return found;
};

/** The sums are of histories that the deciders allow. */
const historiesOf = ({ schema }: Projection) =>
  schema === stats.schema ? fc.oneof(eventLives, crowdedLives) : randomHistory;

const SOUND: Breaking = {};
const NO_STEP: Step = async () => undefined;
const always = (size: number) => () => size;

/** Crashes before each write in turn, until a run needs no more writes; another node then goes on. */
const crashEverywhere = async (
  projection: Projection,
  log: readonly RecordedEvent[],
  [size, otherSize]: readonly [number, number],
  breaking: Breaking = SOUND,
): Promise<void> => {
  const wanted = folded(projection, log, 1).all();
  for (let writes = 0; ; writes += 1) {
    const kept = nothingKept();
    let left = writes;
    const step: Step = async (what) => {
      if (what !== "write") return;
      if (left === 0) throw new Crashed();
      left -= 1;
    };
    const isThrough = await follow(node(kept, step, breaking), projection, log, always(size));
    assert.ok(await follow(node(kept, NO_STEP, breaking), projection, log, always(otherSize)));
    assert.equal(contents(kept, projection.schema.name), wanted, `${projection.schema.name}, ${writes} writes`);
    if (isThrough) return;
  }
};

/** Lets one of several nodes take its next step at a time, which one the seed says. */
const interleaved = (random: SeededRandom) => {
  const waiting: (() => void)[] = [];
  const step: Step = () => new Promise((resolve) => waiting.push(resolve));
  const run = async (all: Promise<unknown>): Promise<void> => {
    let isDone = false;
    const end = all.finally(() => {
      isDone = true;
    });
    // Awaited below, when the nodes have had their steps.
    end.catch(() => undefined);
    while (!isDone) {
      // Mostly whoever came last, so that a node is far ahead when another goes on.
      const next = random.below(4) === 0 ? random.below(waiting.length) : waiting.length - 1;
      waiting.splice(next, 1)[0]?.();
      // Whoever was woken comes to its next step before another is.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await end;
  };
  return { step, run };
};

/** Gives up one of `every` writes, each of which happens later, while other nodes write. */
const givingUp = (random: SeededRandom, every: number) => {
  const writes: Promise<unknown>[] = [];
  const ignoreCrash = (error: unknown): void => {
    if (!(error instanceof Crashed)) throw error;
  };
  const collections = (good: Collections): Partial<Collections> => ({
    async write(view, documents) {
      if (random.below(every) !== 0) return good.write(view, documents);
      writes.push(good.write(view, documents).catch(ignoreCrash));
      throw new Unanswered();
    },
  });
  return { collections, settled: () => Promise.all(writes) };
};

type Disturbances = { readonly crashes: boolean; readonly drops: number };

/**
 * Three nodes at once with pages of any size, some of which crash, give up a write or drop the view; one more goes on in
 * the end.
 */
const together = async (
  projection: Projection,
  log: readonly RecordedEvent[],
  seed: number,
  { crashes, drops }: Disturbances,
  breaking: Breaking = SOUND,
): Promise<void> => {
  const random = seededRandom(seed);
  const kept = nothingKept();
  const { step, run } = interleaved(random);
  const crashing: Step = async (what) => {
    await step(what);
    if (crashes && random.below(25) === 0) throw new Crashed();
  };
  const size = () => 1 + random.below(9);
  const dropping = async (): Promise<void> => {
    for (let drop = 0; drop < drops; drop += 1) {
      for (let pause = random.below(200); pause > 0; pause -= 1) await step("read");
      await node(kept, step, breaking).views.drop(projection.schema.name, LOG_NAME);
    }
  };
  const late = givingUp(random, WRITES_GIVEN_UP);
  const disturbed: Breaking = {
    ...breaking,
    collections: (good) => {
      const broken = { ...good, ...breaking.collections?.(good, kept) };
      return { ...broken, ...(crashes ? late.collections(broken) : {}) };
    },
  };
  const nodes = [1, 2, 3].map(() => follow(node(kept, crashing, disturbed), projection, log, size));
  await run(Promise.all([...nodes, dropping()]).then(late.settled));
  assert.ok(await follow(node(kept, NO_STEP, breaking), projection, log, size));
  const wanted = folded(projection, log, 1).all();
  assert.equal(contents(kept, projection.schema.name), wanted, projection.schema.name);
};

const pageSizes = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 }));

for (const projection of PROJECTIONS) {
  const { name } = projection.schema;

  test(`${name}: a crash between any two writes leaves what the next projector completes`, async () => {
    await crashEverywhere(projection, broadHistory().events, [7, 4]);
    const property = fc.asyncProperty(historiesOf(projection), pageSizes, (log, sizes) =>
      crashEverywhere(projection, log.events, sizes),
    );
    await fc.assert(property, { numRuns: 15 });
  });

  test(`${name}: projectors that write at once, crash and drop the view give what one alone gives`, async () => {
    for (const crashes of [false, true])
      for (const drops of [0, 2]) {
        await together(projection, broadHistory().events, 1, { crashes, drops });
        const property = fc.asyncProperty(historiesOf(projection), fc.integer(), (log, seed) =>
          together(projection, log.events, seed, { crashes, drops }),
        );
        await fc.assert(property, { numRuns: 10 });
      }
  });
}

const VIEW = PROJECTIONS[0]?.schema.name ?? "";

test("a fold whose second load follows a drop begins again", async () => {
  const kept = nothingKept();
  const [ours, theirs] = [node(kept, NO_STEP, SOUND).views, node(kept, NO_STEP, SOUND).views];
  assert.is.not(await ours.load(VIEW, null, ["a"]), "stale");
  await theirs.drop(VIEW, LOG_NAME);
  assert.is(await ours.load(VIEW, null, ["b"]), "stale");
  assert.is.not(await ours.load(VIEW, null, ["a", "b"]), "stale");
  assert.is(await ours.commit(VIEW, null, "1", { documents: new Map([["a", { at: 1 }]]) }), "committed");
});

test("documents from memory are not written if the checkpoint has moved", async () => {
  const kept = nothingKept();
  const [ours, theirs] = [node(kept, NO_STEP, SOUND).views, node(kept, NO_STEP, SOUND).views];
  await ours.load(VIEW, null, ["a"]);
  await ours.commit(VIEW, null, "1", { documents: new Map([["a", { at: 1 }]]) });
  await theirs.load(VIEW, "1", ["a"]);
  await theirs.commit(VIEW, "1", "3", { documents: new Map([["a", null]]) });
  // As the server does with what was removed, a day later.
  kept.documents.get(VIEW)?.delete("a");
  assert.is(await ours.commit(VIEW, "1", "2", { documents: new Map([["a", { at: 2 }]]) }), "stale");
  assert.equal(contents(kept, VIEW), {});
});

test("a page whose changes another node has written leaves no older totals in memory", async () => {
  const log = history();
  for (const number of [1, 2, 3]) {
    if (number === 3) log.add("ledger-pol_1", { type: "PlacesReleased", data: {} });
    const id = `evt_${number}`;
    log.add(`delivery-${id}`, deliveryFacts(id, "end_1").blocked());
  }
  const { events } = log;
  const kept = nothingKept();
  const ours = new ViewFollower(logOf(events), node(kept, NO_STEP, SOUND).views, stats, 1_000);
  // Our node moves the checkpoint between the documents and the checkpoint of the other.
  const overtaken: Breaking = {
    collections: (good) => ({
      async advance(...to) {
        await ours.advance(events.slice(1, 2));
        return good.advance(...to);
      },
    }),
  };
  const theirs = new ViewFollower(logOf(events), node(kept, NO_STEP, overtaken).views, stats, 1_000);
  await ours.claim();
  await ours.advance(events.slice(0, 1));
  await theirs.claim();
  await theirs.advance(events.slice(1, 3));
  assert.is(ours.position(), events[1]?.position);
  await ours.advance(events.slice(2));
  assert.equal(contents(kept, stats.schema.name), folded(stats, events, 1).all());
});

const generationOf = ({ _position }: { readonly _position: string }): string =>
  _position.slice(0, _position.indexOf(".") + 1);

/** One rule left out each. */
const BROKEN: Readonly<Record<string, Breaking>> = {
  "writes the checkpoint before the documents": {
    collections(good) {
      const late: Parameters<Collections["write"]>[] = [];
      return {
        async write(...documents) {
          late.push(documents);
          return true;
        },
        async advance(...to) {
          const isOurs = await good.advance(...to);
          for (const documents of isOurs ? late : []) await good.write(...documents);
          late.length = 0;
          return isOurs;
        },
      };
    },
  },
  "does not compare the position of a document that it writes": {
    collections: (good, kept) => ({
      async write(view, documents) {
        for (const document of documents) {
          kept.documents.get(view)?.delete(document._id);
          await good.write(view, [document]);
        }
        return true;
      },
    }),
  },
  "writes the leading documents after the named ones": {
    folding: (good) => ({
      commit: (view, after, upTo, { documents, leading = 0, ...details }) => {
        const reversed = new Map([...documents].reverse());
        return good.commit(view, after, upTo, { documents: reversed, ...details, leading: documents.size - leading });
      },
    }),
  },
  "folds on a document as if it were at the checkpoint": {
    collections: (good) => ({
      find: async (view, ids) =>
        (await good.find(view, ids)).map((stored) => ({ ...stored, _position: generationOf(stored) })),
    }),
  },
  "leaves no remainder of a removed document": {
    collections: (good, kept) => ({
      async write(view, documents) {
        const isWritten = await good.write(view, documents);
        for (const { _id, _removed } of documents) if (_removed !== undefined) kept.documents.get(view)?.delete(_id);
        return isWritten;
      },
    }),
  },
  "does not write a document that came and went within a page": {
    collections: (good, kept) => ({
      write: (view, documents) =>
        good.write(
          view,
          documents.filter(({ _id, _removed }) => _removed === undefined || kept.documents.get(view)?.has(_id)),
        ),
    }),
  },
  "drops without beginning a new generation": {
    collections: (good, kept) => ({
      async startAgain(view, log) {
        kept.checkpoints.set(view, { generation: 0, position: null, origin: { log, isEmptied: false, last: null } });
        return 0;
      },
      removeBelow: (view) => good.removeBelow(view, "000001."),
    }),
  },
};

/** What is wrong shows within some hundred histories at most; what is right is tried with fewer. */
const ATTEMPTS_MAX = 1_000;
const SOUND_ATTEMPTS = 100;

test("the documents differ if any one of the rules is broken", async () => {
  const logs = [broadHistory(), ...fc.sample(randomHistory, { numRuns: 40, seed: 1 })];
  const isNoticed = async (breaking: Breaking, attempts: number): Promise<boolean> => {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const log = logs[attempt % logs.length]?.events ?? [];
      for (const projection of PROJECTIONS.filter((it) => it.schema !== stats.schema))
        try {
          await together(projection, log, attempt, { crashes: attempt % 2 === 0, drops: attempt % 3 }, breaking);
        } catch {
          return true;
        }
    }
    return false;
  };
  for (const [fault, breaking] of Object.entries(BROKEN)) assert.ok(await isNoticed(breaking, ATTEMPTS_MAX), fault);
  assert.not(await isNoticed(SOUND, SOUND_ATTEMPTS));
});

test.run();
