import { join } from "node:path";
import type { Test } from "uvu";
import type { ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { mongoViewStore } from "../../infra/mongodb/view-store.ts";
import { sqliteViewStore } from "../../infra/sqlite/view-store.ts";
import { freshDatabase, mongodbServer } from "./mongodb.ts";
import { removeFolder, temporaryFolder } from "./program.ts";
import { testWhere } from "./skipped.ts";

/** Adds a test for each store of views, which has the same to show. `what` names them where there is no MongoDB. */
export const inEachViewStore = (
  test: Test,
  what: string,
  schemas: readonly ViewSchema[],
  body: (views: ViewStore) => Promise<void>,
): void => {
  const closing = async (views: ViewStore): Promise<void> => {
    try {
      await body(views);
    } finally {
      await views.close();
    }
  };
  test("in memory", () => closing(memoryViewStore(schemas)));

  test("in SQLite", async () => {
    const folder = temporaryFolder();
    try {
      await closing(sqliteViewStore({ path: join(folder, "views.db"), schemas }));
    } finally {
      removeFolder(folder);
    }
  });

  const server = mongodbServer(`${what} in MongoDB`);
  testWhere(test, server !== null, "there is no MongoDB", "in MongoDB", async () => {
    const { url, drop } = freshDatabase(server ?? "");
    try {
      await closing(await mongoViewStore({ url, schemas }));
    } finally {
      await drop();
    }
  });
};
