import { suite } from "uvu";
import { mongoViewStore } from "../../../infra/mongodb/view-store.ts";
import { BY_CODE_POINT, type OpenViewStore, viewStoreContract } from "../../contract/view-store.ts";
import { freshDatabase, mongodbServer, sortsByCodePoint } from "../../support/mongodb.ts";

const server = mongodbServer("the view store in MongoDB");

const opening =
  (serverUrl: string): OpenViewStore =>
  async (schemas) => {
    const { url, drop } = freshDatabase(serverUrl);
    const views = await mongoViewStore({ url, schemas });
    return {
      ...views,
      async close() {
        await views.close();
        await drop();
      },
    };
  };

if (server === null) {
  const test = suite("view store contract: mongodb");
  test.skip("no server");
  test.run();
} else {
  const except = (await sortsByCodePoint(server)) ? [] : [BY_CODE_POINT];
  if (except.length > 0) console.log("SKIPPED: text by code point: this server, unlike MongoDB, sorts by UTF-16 units");
  viewStoreContract("mongodb", opening(server), except);
}
