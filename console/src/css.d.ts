/** Vite turns the import of a style sheet into a link. */
declare module "*.css";
