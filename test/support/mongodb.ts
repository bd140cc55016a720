import { randomBytes } from "node:crypto";
import { MongoClient } from "mongodb";
import { skipped } from "./skipped.ts";

/**
 * A database of its own on the server that `MONGODB_URL` names, gone with `drop`, which never rejects: what a failed
 * test has left running may keep the server from it, and thrown in an `after.each` it would hide why the test failed.
 */
export type FreshDatabase = { readonly url: string; drop(): Promise<void> };

export const freshDatabase = (serverUrl: string): FreshDatabase => {
  const url = new URL(serverUrl);
  url.pathname = `/test_${randomBytes(6).toString("hex")}`;
  return {
    url: url.href,
    async drop() {
      const client = new MongoClient(url.href);
      try {
        await client.db().dropDatabase();
      } catch (error) {
        console.error(`${url.pathname.slice(1)} is left on the server:`, error);
      } finally {
        await client.close();
      }
    },
  };
};

/** The server's address, or null after the tests of `what` have been counted as skipped. */
export const mongodbServer = (what: string): string | null => {
  const { MONGODB_URL } = process.env;
  if (MONGODB_URL) return MONGODB_URL;
  skipped(what, "MONGODB_URL is not set");
  return null;
};

/** MongoDB compares text by code point; a server that stands in for it may compare UTF-16 units. */
export const sortsByCodePoint = async (serverUrl: string): Promise<boolean> => {
  const { url, drop } = freshDatabase(serverUrl);
  const client = new MongoClient(url);
  const texts = client.db().collection<{ _id: string }>("texts");
  await texts.insertMany([{ _id: "😀" }, { _id: "\uffee" }]);
  const [first] = await texts.find().sort({ _id: 1 }).toArray();
  await client.close();
  await drop();
  return first?._id === "\uffee";
};
