/** What the service itself runs of the console: the build makes one file of it, `build/page-server/for-service.js`. */
export { HOME, LINK_PATHS, queryIn, SIGN_IN } from "./addresses.ts";
export { firstReads } from "./first-reads.ts";
