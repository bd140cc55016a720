// Run once by MongoDB's image, as long as its volume is empty, on the database countersign.
const { MONGODB_PASSWORD, MONGODB_ANALYST_PASSWORD } = process.env;

// The service makes collections and indexes, and writes documents.
db.createUser({ user: "countersign", pwd: MONGODB_PASSWORD, roles: ["readWrite"] });
// Whoever queries the views may read them, and nothing else.
db.createUser({ user: "analyst", pwd: MONGODB_ANALYST_PASSWORD, roles: ["read"] });
