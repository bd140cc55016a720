/** Parts of undici that its package declares only as a whole. To load the whole takes twice as long as to load these. */
declare module "undici/lib/dispatcher/client.js" {
  export { Client as default } from "undici";
}
declare module "undici/lib/core/errors.js" {
  export { errors as default } from "undici";
}
