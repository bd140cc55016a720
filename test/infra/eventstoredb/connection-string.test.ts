import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type ConnectionString, readConnectionString } from "../../../infra/eventstoredb/connection-string.ts";

/** A connection string is read before the client does, which prints what it does not know. */

const test = suite("EventStoreDB connection string");

/** With `sekret` wherever something may be secret. */
const refusals: readonly (readonly [string, RegExp])[] = [
  ["", /not a connection string of EventStoreDB, such as esdb:\/\/127/],
  ["mongodb://user:sekret@h", /not a connection string/],
  ["http://127.0.0.1:2113", /not a connection string/],
  ["esdb://user:sekret@host?tls=false?sekret", /percent-encoded/],
  ["esdb://user:sek@ret@host", /percent-encoded: @ as %40/],
  ["esdb://user:sek/ret@host:2113?tls=false", /percent-encoded/],
  ["esdb://user:sek#ret@host", /percent-encoded/],
  ["esdb://user:sek?ret@host?tls=false", /percent-encoded/],
  ["esdb://user:sek:ret@host", /percent-encoded/],
  ["esdb://user:sekret%@host", /percent-encoded: .*% as %25/],
  ["esdb://user:sekret%zz@host", /percent-encoded/],
  ["esdb://user:sekret@host?connectionName=a@b", /percent-encoded/],
  ["esdb://sekret@host", /both a user name and a password, or none/],
  ["esdb://sekret:@host", /both a user name and a password, or none/],
  ["esdb://user:sekret@?tls=false", /has to name its hosts/],
  ["esdb://user:sekret", /has to name its hosts/],
  ["esdb://user:sekret@host:99999", /has to name its hosts/],
  ["esdb://user:sekret@host:port", /has to name its hosts/],
  ["esdb://user:sekret@one,,two", /has to name its hosts/],
  ["esdb://user:sekret@host?tls", /options that are not like \?name=value/],
  ["esdb://user:sekret@host?tls=false&", /options that are not like/],
  ["esdb://user:sekret@host?keepalive=1", /has an option keepalive, which there is not: it takes connectionName, /],
  ["esdb://user:sekret@host?tls=false&MaxDiscoveryAttempts=1", /has an option MaxDiscoveryAttempts, which/],
  [
    "esdb://user:sekret@host?tlsVerifyCert=false",
    /certificates are always verified: name their authority in tlsCAFile/,
  ],
  ["esdb://user:sekret@host?keepAliveInterval=1", /keepAliveInterval below 10000 ms/],
];

test("an unusable connection string is refused in one sentence without secrets", () => {
  for (const [text, sentence] of refusals) {
    assert.throws(
      () => readConnectionString(text),
      (error: Error) => {
        assert.match(error.message, sentence, text);
        assert.not.match(error.message, /sek|ret\b|\n/, text);
        return true;
      },
    );
  }
});

test("a connection string may use all the client's options, and its address has only hosts", () => {
  const taken: readonly (readonly [string, ConnectionString])[] = [
    ["esdb://host", { url: "esdb://host", address: "esdb://host", asksAddressForTls: false }],
    [
      "esdb+discover://user:p%40ss@one:1,two:2/?node_preference=leader&tls-ca-file=%2Fca.pem",
      {
        url: "esdb+discover://user:p%40ss@one:1,two:2?node_preference=leader&tls-ca-file=%2Fca.pem",
        address: "esdb+discover://one:1,two:2",
        asksAddressForTls: false,
      },
    ],
    [
      "esdb://127.0.0.1:2113?tls=false&tlsVerifyCert=false",
      { url: "esdb://127.0.0.1:2113?tls=false", address: "esdb://127.0.0.1:2113", asksAddressForTls: false },
    ],
    [
      "esdb://host,10.0.0.1:2113?tlsVerifyCert=true",
      { url: "esdb://host,10.0.0.1:2113", address: "esdb://host,10.0.0.1:2113", asksAddressForTls: true },
    ],
  ];
  for (const [text, expected] of taken) assert.equal(readConnectionString(text), expected, text);
});

test.run();
